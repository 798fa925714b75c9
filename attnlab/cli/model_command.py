"""The command ``attnlab model``: a real model, what it is, its attention on a text, its patterns and predictions."""

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnlab.base.console import OK, say, warn
from attnlab.cli.command_line import MisuseError, Parser, check_folder, check_not_read
from attnlab.cli.figure_options import add_figure_options, check_figure_options
from attnlab.cli.model_output import (
    describe,
    describe_capture,
    format_patterns,
    list_patterns,
    list_predictions,
    list_targets,
    show_layer,
    write_layers,
    write_or_say,
    write_session,
)
from attnlab.cli.stage_options import parse_head
from attnlab.files.source import SESSION

if TYPE_CHECKING:
    from attnlab.pretrained.captured import Capture
    from attnlab.pretrained.model import Model

EXAMPLES = """\
examples:
  attnlab model ./my-model                                     what it is
  attnlab model ./my-model "The cat sat" --layer 3 --head 2    one map as a table
  attnlab model ./my-model "The cat sat" --layer 3 -o maps.pdf every head of a layer as a figure
  attnlab model ./my-model "The cat sat" --layer 3 --block -o layer.attnlab
                                                               a whole block, which attnlab layer.attnlab opens
  attnlab model ./my-model "The cat sat" --patterns            what each head looks at
  attnlab model ./my-model "The cat sat on the" --predict 3 --off 3.2,5.0
  attnlab model ./my-model --targets --texts sentences.txt     the strongest target of every token, layer by layer
"""


def main(argv: list[str]) -> int:
    """Run ``attnlab model`` with these arguments and return its exit code."""
    options = _parser().parse_args(argv)
    _check(options)
    if options.output is not None:
        check_folder(options.output)
        check_not_read(options.output, options.source)
        if options.output.suffix == ".safetensors":
            for weights in Path(options.source).glob("*.safetensors"):
                check_not_read(options.output, weights)
    from attnlab.pretrained.captured import Capture
    from attnlab.pretrained.model import read_model

    model = read_model(options.source)
    if isinstance(model, Capture):
        return _show_capture(model, options)
    _need_text(options)
    if options.targets or options.texts is not None:
        return _show_texts(model, options)
    if options.text is None:
        say(describe(model, None, options))
        return OK
    off: Any = {options.part: options.off} if options.off and options.part is not None else options.off
    run = model.run(options.text, options.target, heads_off=off)
    if options.predict is not None:
        say(list_predictions(run, options))
    elif options.patterns:
        write_or_say(list_patterns(run, options), options.output)
    elif _writes_session(options):
        write_session(run, options)
    elif options.output is not None:
        write_layers(run, options)
    elif options.layer is not None:
        say(show_layer(run, options))
    else:
        say(describe(model, run, options))
    return OK


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="attnlab model",
        description="Show a real model’s attention on a text, what its heads look at, and what it predicts.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("source", metavar="SOURCE", help="a model’s folder, a name of the cache, or a capture")
    parser.add_argument("text", nargs="?", metavar="TEXT", help="the input: the text that it reads")
    parser.add_argument("--target", metavar="TEXT", help="what the decoder of an encoder–decoder has written so far")
    parser.add_argument("--layer", type=_parse_whole, metavar="N", help="a layer, counted from 0")
    parser.add_argument(
        "--block",
        action="store_true",
        help=f"with -o LAYER{SESSION}: the layer as a whole block, with its norms and its feed-forward",
    )
    parser.add_argument(
        "--part", choices=("encoder", "decoder", "cross", "layers"), help="of an encoder–decoder (encoder)"
    )
    parser.add_argument(
        "--head", type=parse_head, default="all", metavar="I|all|mean", help="a head from 0, all, or their mean (all)"
    )
    task = parser.add_mutually_exclusive_group()
    task.add_argument("--targets", action="store_true", help="the strongest target of every token, layer by layer")
    task.add_argument("--patterns", action="store_true", help="what each head looks at, as shares of its weight")
    task.add_argument(
        "--predict", type=_parse_count, nargs="?", const=5, metavar="K", help="the K likeliest tokens (5)"
    )
    parser.add_argument(
        "--texts", type=Path, metavar="PATH", help="several texts: lines of a file, or the .txt files of a folder"
    )
    parser.add_argument(
        "--position",
        type=int,
        metavar="P",
        help="where to predict, from 0 (the first masked token, or the last)",
    )
    parser.add_argument("--off", type=_parse_off, default=[], metavar="L.H,…", help="heads to switch off: 3.2,5.0")
    parser.add_argument("--json", action="store_true", help="print JSON with all digits")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="OUT",
        help=f"write a figure, a table or, as {SESSION}, a session of one layer; with --patterns, CSV",
    )
    add_figure_options(parser, "figures")
    return parser


def _show_capture(capture: "Capture", options: argparse.Namespace) -> int:
    """Show what was captured, as that of a model on a text."""
    asked = options.text, options.texts, options.target, options.predict, options.off or None, options.targets or None
    if any(each is not None for each in asked):
        raise MisuseError("A capture has the attention of one text; leave TEXT and options that run a model out.")
    if _writes_session(options):
        raise MisuseError("A capture has no weights, so none of its layers can be written as a session.")
    if options.patterns:
        write_or_say(list_patterns(capture, options), options.output)
    elif options.output is not None:
        write_layers(capture, options)
    elif options.layer is not None:
        say(show_layer(capture, options))
    else:
        say(describe_capture(capture, options))
    return OK


def _show_texts(model: "Model", options: argparse.Namespace) -> int:
    """Show the strongest targets of each text, or the mean scores of all."""
    from attnlab.files.texts_in import read_texts
    from attnlab.pretrained.many_texts import SENTENCES

    texts = [options.text] if options.text is not None else list(SENTENCES)
    if options.texts is not None:
        texts = read_texts(options.texts)
    off: Any = {options.part: options.off} if options.off and options.part is not None else options.off
    found = model.read_texts(texts, options.part, off)
    for text, why in found.refused:
        warn(f"“{text[:60]}” is left out: {why}")
    if options.targets:
        write_or_say(list_targets(found, model, options), options.output)
    else:
        write_or_say(format_patterns(found.patterns, (), options), options.output)
    return OK


def _need_text(options: argparse.Namespace) -> None:
    """Refuse options that ask what a model makes of a text, without one."""
    asks = options.layer is not None or options.patterns or options.predict is not None or options.output is not None
    if options.texts is not None:
        if options.text is not None or options.target is not None:
            raise MisuseError("--texts reads several texts; leave TEXT and --target out.")
        if not (options.patterns or options.targets):
            raise MisuseError("--texts needs --patterns or --targets.")
        return
    if options.text is None and (asks or options.off or options.target is not None):
        raise MisuseError("Attention, patterns and predictions need a TEXT for the model to read.")


def _check(options: argparse.Namespace) -> None:
    """Refuse options that exclude each other."""
    listed = options.patterns or options.targets
    if listed and options.output is not None and options.output.suffix.lower() != ".csv":
        what = "Patterns" if options.patterns else "Targets"
        raise MisuseError(f"{what} are written as CSV; {options.output} needs to end in .csv.")
    if options.predict is not None and options.output is not None:
        raise MisuseError("Predictions are printed; leave -o out.")
    if options.json and options.output is not None:
        raise MisuseError("--json prints, and -o writes a file; give one of them.")
    check_figure_options(options)
    _check_ignored(options)
    _check_session(options)


def _check_ignored(options: argparse.Namespace) -> None:
    """Refuse options that the rest of the line would ignore."""
    chosen = options.layer is not None or options.head != "all"
    if options.patterns and chosen:
        raise MisuseError("--patterns lists every head of every layer; leave --layer and --head out.")
    if options.predict is not None and chosen:
        raise MisuseError("--predict runs the whole model; leave --layer and --head out.")
    if options.targets and options.layer is not None:
        raise MisuseError("--targets lists every layer; leave --layer out.")
    if options.head != "all" and options.layer is None and options.output is None and not options.targets:
        raise MisuseError("--head chooses a head of a layer; name the layer with --layer.")
    if options.position is not None and options.predict is None:
        raise MisuseError("--position says where to predict; add --predict.")


def _check_session(options: argparse.Namespace) -> None:
    """Refuse a session of anything but one layer, and a block that is written as something else."""
    if options.block and not _writes_session(options):
        raise MisuseError(f"--block writes a layer as a session; add -o LAYER{SESSION}.")
    if not _writes_session(options):
        return
    if options.layer is None:
        raise MisuseError("A session contains one layer; name it with --layer.")
    if options.head != "all":
        raise MisuseError("A session contains every head of a layer; leave --head out.")


def _writes_session(options: argparse.Namespace) -> bool:
    return options.output is not None and options.output.suffix.lower() == SESSION


def _parse_whole(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a layer; use 0, 1 …")
    return int(text)


def _parse_count(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,5}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of tokens; use 1, 2 …")
    return int(text)


def _parse_off(text: str) -> list[tuple[int, int]]:
    if not re.fullmatch(r"[0-9]{1,4}\.[0-9]{1,4}(,[0-9]{1,4}\.[0-9]{1,4}){0,9999}", text):
        raise argparse.ArgumentTypeError(f"{text!r} names no heads; write layer.head, such as 3.2,5.0")
    return [(int(layer), int(head)) for layer, _, head in (each.partition(".") for each in text.split(","))]
