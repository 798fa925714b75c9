"""The command ``attnlab show``: prints numbers as tables, as JSON, or as text for papers and code."""

import argparse
import re
from typing import TYPE_CHECKING, Any

from attnlab.base.console import OK, say, terminal_width
from attnlab.cli.stage_options import compute_trace, print_warnings, stage_parser

if TYPE_CHECKING:
    from attnlab.files.export.stage_tables import Table

TITLES = {"latex": "% {}\n", "numpy": "{} = ", "markdown": "### {}\n\n", "csv": "# {}\n"}
"""The heading of each stage when all stages are printed."""


def main(argv: list[str]) -> int:
    """Run ``attnlab show`` with these arguments and return its exit code."""
    parser = stage_parser("show", "Print the numbers of one stage, or of all.")
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

    one = options.stage is not None
    tables = [table(trace, name, options.head) for name in ([options.stage] if one else trace.all_stages)]
    if options.json:
        texts = [as_json(each) for each in tables]
        say((texts[0] if one else "[" + ",\n ".join(texts) + "]") + "\n")
    elif options.format is not None:
        say("\n".join(("" if one else TITLES[options.format].format(t.stage)) + _format(t, options) for t in tables))
    else:
        say("\n".join(as_text(each, terminal_width()) for each in tables))
    print_warnings(trace)
    return OK


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
