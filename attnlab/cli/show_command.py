"""The command ``attnlab show``: prints numbers as tables, as JSON, or as text for papers and code."""

import argparse
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from attnlab.base.console import OK, say, terminal_width
from attnlab.cli.stage_options import ALL, compute_trace, print_warnings, stage_parser

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.files.export.stage_tables import Table

TITLES = {"latex": "% {}\n", "numpy": "{} = ", "markdown": "### {}\n\n", "csv": "# {}\n"}
"""The heading of each stage when all stages are printed."""


def main(argv: list[str]) -> int:
    """Run ``attnlab show`` with these arguments and return its exit code."""
    parser = stage_parser("show", "Print the numbers of one stage, or of all.", every_layer=True)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON with all digits; a masked −∞ is null")
    form.add_argument("--format", choices=tuple(TITLES), help="print text for a paper, for code or for notes")
    parser.add_argument(
        "--digits",
        type=_parse_digits,
        metavar="N|all",
        help="decimals with --format (latex, markdown: 4; others: all)",
    )
    parser.add_argument("--labels", action=argparse.BooleanOptionalAction, help="print tokens too, with --format")
    options = parser.parse_args(argv)
    if options.format is None and (options.digits is not None or options.labels is not None):
        parser.error("--digits and --labels need --format")
    trace = compute_trace(options.source, options)
    from attnlab.files.export.stage_tables import as_json, table
    from attnlab.files.export.terminal_table import as_text

    traces = _find_layers(trace) if options.layer == ALL else [trace]
    one = options.stage is not None and options.layer != ALL
    tables = [
        replace(table(each, name, options.head), layer=None if options.layer is None else each.experiment.layer)
        for each in traces
        for name in ([options.stage] if options.stage is not None else each.all_stages)
    ]
    if options.json:
        texts = [as_json(each) for each in tables]
        say((texts[0] if one else "[" + ",\n ".join(texts) + "]") + "\n")
    elif options.format is not None:
        say("\n".join(("" if one else TITLES[options.format].format(_name(t))) + _format(t, options) for t in tables))
    else:
        say("\n".join(as_text(each, terminal_width()) for each in tables))
    for each in traces:
        print_warnings(each)
    return OK


def _find_layers(last: "Trace") -> list["Trace"]:
    """Return the traces of all layers of a stack in order, from that of the last one."""
    found = [last]
    while (below := found[0].below) is not None:
        found.insert(0, below)
    return found


def _name(t: "Table") -> str:
    """Return the name of a table in a heading, which is also a variable name."""
    return t.stage if t.layer is None else f"{t.stage}_{t.layer}"


def _format(t: "Table", options: argparse.Namespace) -> str:
    from attnlab.files.export.matrix_text import FORMATS

    given: dict[str, Any] = {} if options.labels is None else {"labels": options.labels}
    if options.digits is not None:
        given["digits"] = None if options.digits == "all" else options.digits
    return FORMATS[options.format](t, **given)


def _parse_digits(text: str) -> int | str:
    if text != "all" and not re.fullmatch(r"[0-9]{1,3}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of decimals; use 0, 1 … or all")
    return text if text == "all" else int(text)
