"""Typesets the formulas that the stages of the presets have, so that the window need not do it while it opens.

    python -m tools.make_formulas

Their drawings are in resources/formulas.json; run it again when a formula changed.
"""

import json
from pathlib import Path

import attnlab
from attnlab.ui.base.formula import typeset

FILE = Path(__file__).parents[1] / "resources" / "formulas.json"


def list_formulas() -> list[str]:
    """Return the LaTeX of every formula that a card of a preset shows, sorted."""
    traces = map(attnlab.compute, map(attnlab.preset, attnlab.presets()))
    shown = {trace.stage(name).formula(trace.experiment) for trace in traces for name in trace.all_stages}
    return sorted(shown - {""})


def main() -> None:
    """Write the drawings."""
    drawings = {latex: typeset(latex) for latex in list_formulas()}
    FILE.write_text(json.dumps(drawings, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
