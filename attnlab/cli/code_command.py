"""The command ``attnlab code``: writes one or more experiments as PyTorch scripts or notebooks."""

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.base.console import OK, say
from attnlab.cli.command_line import MisuseError, Parser
from attnlab.cli.many_sources import OUTPUT_HELP, has_several, parse_output, write_each
from attnlab.cli.stage_options import add_dtype, add_source, load_experiment

if TYPE_CHECKING:
    from attnlab.files.source import Source

SCRIPT, NOTEBOOK = ".py", ".ipynb"
EXAMPLES = """\
examples:
  attnlab code preset:journey > journey.py
  attnlab code mine.attnlab -o mine.ipynb --dtype float64
  attnlab code 'runs/*.attnlab' --notebook -o notebooks/
"""


def main(argv: list[str]) -> int:
    """Run ``attnlab code`` with these arguments and return its exit code."""
    options = _parser().parse_args(argv)
    from attnlab.compute.engine import resolve_dtype

    resolve_dtype(options.dtype)
    if options.output is None:
        return _print(options)
    out = parse_output(
        options.output, options.sources, (SCRIPT, NOTEBOOK), None, NOTEBOOK if options.notebook else SCRIPT
    )
    if options.notebook and out.ending == SCRIPT:
        raise MisuseError(f"{options.output} has the extension of a script, but --notebook needs {NOTEBOOK}.")
    return write_each(options.sources, out, partial(_write_one, options, out.ending))


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="attnlab code",
        description="Print a PyTorch script that reproduces every stage, or write a script or a notebook.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add_source(parser, several=True)
    parser.add_argument("--notebook", action="store_true", help="write a Jupyter notebook with a cell for each stage")
    parser.add_argument("-o", "--output", metavar="OUT", help=f"{OUTPUT_HELP}; {SCRIPT} or {NOTEBOOK}")
    add_dtype(parser)
    return parser


def _print(options: argparse.Namespace) -> int:
    if has_several(options.sources):
        raise MisuseError("Only the code of one source can be printed; -o FOLDER writes a file for each source.")
    say(_text(options.sources[0], NOTEBOOK if options.notebook else SCRIPT, options))
    return OK


def _text(source: "Source | str", ending: str, options: argparse.Namespace) -> str:
    experiment, title = load_experiment(source, options)
    if ending == NOTEBOOK:
        from attnlab.files.export.code_notebook import notebook

        return notebook(experiment, title, options.dtype)
    from attnlab.files.export.script import script

    return script(experiment, title, options.dtype)


def _write_one(options: argparse.Namespace, ending: str, source: "Source", path: Path) -> list[str]:
    from attnlab.files.atomic import write_text

    write_text(path, _text(source, ending, options))
    return []
