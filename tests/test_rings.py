"""Import cycles stay small, counting imports at load time, in functions and for the type checker."""

import grimp

LARGEST = 5
ROOT = "attnlab"
"""The package's own module loads each public name on first use, so it imports everything."""


def rings() -> list[set[str]]:
    """Return the largest sets of modules in which each reaches each other by imports."""
    graph = grimp.build_graph(ROOT, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) - {ROOT} for module in graph.modules - {ROOT}}
    reached = {module: reachable(module, imports) for module in imports}
    found = {frozenset(other for other in reached[module] if module in reached[other]) for module in imports}
    return sorted((set(ring) for ring in found if len(ring) > 1), key=len)


def reachable(module: str, imports: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    ahead = [module]
    while ahead:
        new = imports[ahead.pop()] - found
        found |= new
        ahead += new
    return found


def test_import_cycles_have_at_most_five_modules() -> None:
    found = rings()
    assert found, "the search finds nothing: main_window and its actions know each other"
    assert len(found[-1]) <= LARGEST, "\n".join(sorted(found[-1]))
