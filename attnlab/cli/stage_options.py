"""Options and loading shared by the commands ``show``, ``export`` and ``code``."""

import argparse
import re
from functools import partial
from typing import TYPE_CHECKING

from attnlab.base.console import warn
from attnlab.base.errors import AttnlabError
from attnlab.cli.command_line import Parser
from attnlab.files.source import Source, load_source

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.trace import Trace

ALL = "all"
SOURCE_HELP = "a session file, or preset:NAME (attnlab presets lists the names)"
SEVERAL_HELP = f"{SOURCE_HELP}; or several: files, folders, quoted patterns ('sessions/**/*.attnlab', 'preset:multi*')"


def stage_parser(
    command: str, description: str, *, several: bool = False, epilog: str | None = None, every_layer: bool = False
) -> Parser:
    """Return a parser with the options for one stage of a source, or of several sources.

    With ``every_layer``, ``--layer`` may be "all".
    """
    form = argparse.RawDescriptionHelpFormatter
    parser = Parser(
        prog=f"attnlab {command}", description=description, epilog=epilog, formatter_class=form, allow_abbrev=False
    )
    add_source(parser, several=several, every_layer=every_layer)
    parser.add_argument(
        "--stage",
        metavar="NAME",
        help=f"inputs, queries, … weights, context, output (default {'weights' if several else 'all'})",
    )
    parser.add_argument(
        "--head",
        type=parse_head,
        default="all",
        metavar="I|all|mean",
        help="a head from 0, all heads, or their mean (default all)",
    )
    parser.add_argument("--device", default="cpu", metavar="D", help="cpu, cuda or mps (default cpu)")
    add_dtype(parser)
    return parser


def add_source(parser: argparse.ArgumentParser, *, several: bool = False, every_layer: bool = False) -> None:
    """Add the options for the source of the experiment, the sequence of a batch and the layer of a stack."""
    if several:
        parser.add_argument("sources", nargs="+", metavar="SOURCE", help=SEVERAL_HELP)
    else:
        parser.add_argument("source", metavar="SOURCE", help=SOURCE_HELP)
    parser.add_argument(
        "--item",
        type=_parse_item,
        metavar="I",
        help="a sequence of a batch, from 0 (the saved one)",
    )
    parser.add_argument(
        "--layer",
        type=partial(_parse_layer, every_layer),
        metavar="N|all" if every_layer else "N",
        help=f"a layer of a stack, from 0{', or all layers' if every_layer else ''} (the saved one); the window counts "
        "them from 1",
    )


def add_dtype(parser: argparse.ArgumentParser) -> None:
    """Add the option for the number format of the computation."""
    parser.add_argument(
        "--dtype", default="float32", metavar="T", help="float32, float64, bfloat16 or float16 (default float32)"
    )


def load_experiment(source: Source | str, options: argparse.Namespace) -> "tuple[Experiment, str]":
    """Return the requested experiment (of a batch the sequence, of a stack the layer) and its title.

    All layers are requested by the last one, which reads the others.

    Raises:
        AttnlabError: it cannot be loaded.
    """
    experiment, title, _ = load_source(source)
    if options.item is not None:
        from attnlab.attention.edits.batches import select

        experiment = select(experiment, options.item)
    if options.layer is not None:
        experiment = _select_layer(experiment, options.layer)
    return experiment, title


def _select_layer(e: "Experiment", layer: int | str) -> "Experiment":
    from attnlab.attention.edits.stack_edits import select_layer

    last = e.n_layers - 1
    if layer != ALL and not 0 <= int(layer) <= last:
        there = f"there are layers 0 to {last}" if last else "there is only layer 0"
        raise AttnlabError(f"There is no layer {layer}; {there}.")
    return select_layer(e, last if layer == ALL else int(layer))


def compute_trace(source: Source | str, options: argparse.Namespace) -> "Trace":
    """Return the requested trace; errors as :func:`load_experiment`, or a DeviceError."""
    experiment, _ = load_experiment(source, options)
    from attnlab.compute.engine import compute

    return compute(experiment, options.device, options.dtype)


def print_warnings(trace: "Trace") -> None:
    """Print the warnings about a trace on standard error."""
    for sentence in list_warnings(trace):
        warn(f"attnlab: {sentence}")


def list_warnings(trace: "Trace") -> list[str]:
    """Return the warnings about a trace, one sentence each: ∞, NaN, queries with no key to attend to, odd settings."""
    from attnlab.attention.stages.explanation import dtype_name
    from attnlab.attention.stages.remarks import find_oddities

    odd = list(trace.warnings)
    queries = sorted({query for _, query in trace.empty_rows})
    if queries:
        names = ", ".join(map(str, queries[:8])) + (f" and {len(queries) - 8} more" if len(queries) > 8 else "")
        one = len(queries) == 1
        subject, verb, their = ("Query", "is", "its") if one else ("Queries", "are", "their")
        what = "weights, once masked, and" if "zeroed" in trace else "weights and"
        odd.append(f"{subject} {names} {verb} masked everywhere: {their} {what} context are 0.")
    return [*odd, *find_oddities(trace.experiment, dtype_name(trace))]


def _parse_layer(every_layer: bool, text: str) -> int | str:
    if every_layer and text == ALL:
        return text
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a layer; use 0, 1 …{' or all' if every_layer else ''}")
    return int(text)


def parse_head(text: str) -> int | str:
    """Return a head from 0, "all" or "mean"; for argparse."""
    if text in ("all", "mean"):
        return text
    if not re.fullmatch(r"[+-]?[0-9]{1,9}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a head; use 0, 1 …, all or mean")
    return int(text)


def _parse_item(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a sequence of a batch; use 0, 1 …")
    return int(text)
