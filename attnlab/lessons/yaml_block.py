"""Reads and writes the YAML of front matter and blocks; each key keeps its line."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from attnlab.base.errors import AttnlabError
from attnlab.lessons.lesson import Problem

MAX_DEPTH = 12
"""The maximum depth of nested lists, because the parser is recursive."""

# The types of JSON, as in YAML 1.2: the token "no" is a text, 1:30 is no number of seconds, 1e-3 is a number.
_PLAIN = (
    ("tag:yaml.org,2002:null", r"~|null|", "~n"),
    ("tag:yaml.org,2002:bool", r"true|false|True|False", "tfTF"),
    ("tag:yaml.org,2002:int", r"[-+]?(?:0|[1-9][0-9]{0,17})", "-+0123456789"),
    (
        "tag:yaml.org,2002:float",
        r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]{1,3})?|[-+]?\.inf|\.nan",
        "-+.0123456789",
    ),
)


def _make_resolvers() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    table: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    for tag, pattern, begins in _PLAIN:
        for character in [*begins, *([""] if "null" in tag else [])]:
            table.setdefault(character, []).append((tag, re.compile(f"(?:{pattern})\\Z")))
    return table


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # as fast as this machine can
    yaml_implicit_resolvers = _make_resolvers()


class Flow(list[Any]):
    """A list that is written on one line: [1, 2]."""


class _Dumper(yaml.SafeDumper):
    yaml_implicit_resolvers = _make_resolvers()

    def ignore_aliases(self, data: object) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


_Dumper.add_representer(
    Flow, lambda dumper, data: dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=True)
)

_Dumper.add_representer(  # a lone surrogate would become an escape that no parser accepts
    str, lambda dumper, text: dumper.represent_str(text.encode("utf-8", "replace").decode())
)


_BREAKS = str.maketrans("\x85\u2028\u2029", "   ")
"""Line ends of YAML 1.1, which the parser counts but no editor does."""

_QUOTES = "a text with a colon, or with a bracket inside a list, needs quotes"


@dataclass(frozen=True, slots=True)
class Pair:
    """A key and its value; ``parts`` are the pairs inside a value that is a mapping or a list of mappings."""

    key: str
    value: Any
    line: int
    parts: tuple["Pair", ...] = ()


def dump(data: dict[str, Any]) -> str:
    """Return a mapping as readable YAML; lists other than :class:`Flow` have one line for each item."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110, default_flow_style=False)


def read_pairs(lines: Sequence[tuple[int, str]], what: str, problems: list[Problem]) -> tuple[Pair, ...]:
    """Return the keys and values of a block; if it is not a YAML mapping, that is a problem and there are none."""
    if not lines:
        return ()
    first, text = lines[0][0], "\n".join(line for _, line in lines).translate(_BREAKS) + "\n"
    try:
        _check(text, first)
        return _read(text, first)
    except _RefusedError as error:
        problems.append(Problem(error.line, f"{error}; {what} is left out."))
    except yaml.MarkedYAMLError as error:
        line = min(first + (error.problem_mark.line if error.problem_mark else 0), lines[-1][0])
        reason = (error.problem or "").replace("\n", " ")
        reason = f"This is not YAML ({reason}); {what} is left out. Its lines are key: value, and {_QUOTES}."
        problems.append(Problem(line, reason))
    except (yaml.YAMLError, ValueError, RecursionError):
        problems.append(Problem(first, f"This is not YAML; {what} is left out. Write lines key: value."))
    return ()


class _RefusedError(AttnlabError):
    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


def _check(text: str, first: int) -> None:
    """Refuse YAML features that lessons do not need and that could do harm in an unknown file, before parsing it."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        line = first + (event.start_mark.line if event.start_mark else 0)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _RefusedError(line, "Anchors and aliases (& and *) are not read here: a text with one needs quotes")
        if getattr(event, "tag", None):
            raise _RefusedError(line, "Tags (!) are not read here: a text that begins with one needs quotes")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise _RefusedError(line, f"Lists are nested more than {MAX_DEPTH} deep here")


def _read(text: str, first: int) -> tuple[Pair, ...]:
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return ()
        if not isinstance(node, yaml.MappingNode):
            raise _RefusedError(first + node.start_mark.line, "Lines of the form key: value are needed here")
        return _construct_pairs(loader, node, first)
    finally:
        loader.dispose()


def _construct_pairs(loader: Any, node: yaml.MappingNode, first: int) -> tuple[Pair, ...]:
    return tuple(
        Pair(
            key.value if isinstance(key, yaml.ScalarNode) else str(loader.construct_object(key, deep=True)),
            loader.construct_object(value, deep=True),
            first + key.start_mark.line,
            _construct_parts(loader, value, first),
        )
        for key, value in node.value
    )


def _construct_parts(loader: Any, node: yaml.Node, first: int) -> tuple[Pair, ...]:
    if isinstance(node, yaml.MappingNode):
        return _construct_pairs(loader, node, first)
    if isinstance(node, yaml.SequenceNode) and all(isinstance(item, yaml.MappingNode) for item in node.value):
        return tuple(pair for item in node.value for pair in _construct_pairs(loader, item, first))
    return ()
