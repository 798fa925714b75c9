"""The command ``attnlab model``: a real model, what it is, its attention on a text, its patterns and predictions."""

import argparse
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnlab.base.console import OK, say, terminal_width
from attnlab.cli.command_line import MisuseError, Parser, check_folder, delay_interrupts, offscreen_application
from attnlab.cli.stage_options import parse_head

if TYPE_CHECKING:
    from attnlab.files.export.stage_tables import Table
    from attnlab.pretrained.model import Model
    from attnlab.pretrained.run import Run

EXAMPLES = """\
examples:
  attnlab model ./my-model                                     what it is
  attnlab model ./my-model "The cat sat" --layer 3 --head 2    one map as a table
  attnlab model ./my-model "The cat sat" --layer 3 -o maps.pdf every head of a layer as a figure
  attnlab model ./my-model "The cat sat" --patterns            what each head looks at
  attnlab model ./my-model "The cat sat on the" --predict 3 --off 3.2,5.0
"""


def main(argv: list[str]) -> int:
    """Run ``attnlab model`` with these arguments and return its exit code."""
    options = _parser().parse_args(argv)
    _check(options)
    if options.output is not None:
        check_folder(options.output)
    from attnlab.pretrained.model import open_model

    model = open_model(options.source)
    if options.text is None:
        say(_describe(model, None, options))
        return OK
    off: Any = {options.part: options.off} if options.off and options.part is not None else options.off
    run = model.run(options.text, options.target, heads_off=off)
    if options.predict is not None:
        say(_predict(run, options))
    elif options.patterns:
        _write_or_say(_list_patterns(run, options), options.output)
    elif options.output is not None:
        _write(run, options)
    elif options.layer is not None:
        say(_show(run, options))
    else:
        say(_describe(model, run, options))
    return OK


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="attnlab model",
        description="Show a real model's attention on a text, what its heads look at, and what it predicts.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("source", metavar="SOURCE", help="a model's folder, or a name in the Hugging Face cache")
    parser.add_argument("text", nargs="?", metavar="TEXT", help="the text that it reads")
    parser.add_argument("--target", metavar="TEXT", help="what the decoder of an encoder–decoder has written so far")
    parser.add_argument("--layer", type=_parse_whole, metavar="N", help="a layer, counted from 0")
    parser.add_argument("--part", choices=("encoder", "decoder", "cross"), help="of an encoder–decoder (encoder)")
    parser.add_argument(
        "--head", type=parse_head, default="all", metavar="I|all|mean", help="a head from 0, all, or their mean"
    )
    task = parser.add_mutually_exclusive_group()
    task.add_argument("--patterns", action="store_true", help="what each head looks at, as shares of its weight")
    task.add_argument(
        "--predict", type=_parse_count, nargs="?", const=5, metavar="K", help="the K likeliest tokens (5)"
    )
    parser.add_argument("--position", type=int, default=-1, metavar="P", help="where to predict (the last token)")
    parser.add_argument("--off", type=_parse_off, default=[], metavar="L.H,…", help="heads to switch off: 3.2,5.0")
    parser.add_argument("--json", action="store_true", help="print JSON with all digits")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="OUT", help="write a figure or a table; with --patterns, CSV"
    )
    figure = parser.add_argument_group("figures")
    figure.add_argument("--width", type=float, metavar="MM", help="width in mm (120; several maps 170)")
    figure.add_argument("--dpi", type=int, default=300, metavar="N", help="dots per inch (300)")
    figure.add_argument("--scale", default="auto", metavar="NAME", help="auto, full, largest, percentile, sqrt or log")
    figure.add_argument("--mute-sinks", action="store_true", help="grey columns for the first token and separators")
    figure.add_argument("--dark", action="store_true", help="dark background")
    return parser


def _check(options: argparse.Namespace) -> None:
    """Refuse options that need another one."""
    asks = options.layer is not None or options.patterns or options.predict is not None or options.output is not None
    if options.text is None and (asks or options.off or options.target is not None):
        raise MisuseError("Attention, patterns and predictions need a TEXT for the model to read.")
    if options.patterns and options.output is not None and options.output.suffix.lower() != ".csv":
        raise MisuseError(f"Patterns are written as CSV; {options.output} needs to end in .csv.")
    if options.predict is not None and options.output is not None:
        raise MisuseError("Predictions are printed; leave -o out.")
    if options.json and options.output is not None:
        raise MisuseError("--json prints, and -o writes a file; give one of them.")


def _describe(model: "Model", run: "Run | None", options: argparse.Namespace) -> str:
    predicts = {"next": "the next token", "masked": "masked tokens", None: "nothing"}[model.architecture.predicts]
    if options.json:
        fields = ("name", "family", "n_layers", "n_heads", "d_model", "n_parameters")
        found = {field: getattr(model, field) for field in fields} | {"predicts": model.architecture.predicts}
        tokens = {} if run is None else {"tokens": run.tokens}
        return json.dumps({"model": found.pop("name"), **found, **tokens}, ensure_ascii=False) + "\n"
    rows = {
        "layers": ", ".join(f"{stack.n_layers} in the {stack.name}" for stack in model.architecture.stacks),
        "heads": f"{model.n_heads} in each layer, counted from 0",
        "d_model": str(model.d_model),
        "parameters": f"{model.n_parameters:,}",
        "positions": f"{model.limit:,}",
        "predicts": predicts,
    }
    if run is not None:
        rows["tokens"] = f"{len(run.tokens)}: {' '.join(run.tokens)}"
        if run.target_tokens:
            rows["target"] = f"{len(run.target_tokens)}: {' '.join(run.target_tokens)}"
    return f"{model.name}, {model.architecture.about}\n" + "".join(f"  {name:<11}{row}\n" for name, row in rows.items())


def _predict(run: "Run", options: argparse.Namespace) -> str:
    found = run.predictions(options.position, options.predict)
    if options.json:
        predictions = [{"token": token, "probability": p} for token, p in found]
        return json.dumps({"position": options.position, "predictions": predictions}, ensure_ascii=False) + "\n"
    return "".join(f"{p:7.4f}  {token}\n" for token, p in found)


def _list_patterns(run: "Run", options: argparse.Namespace) -> str:
    from attnlab.pretrained.patterns import HeadPatterns

    rows = run.patterns(options.part)
    if options.json:
        return json.dumps([row._asdict() for row in rows]) + "\n"
    if options.output is not None:
        lines = [",".join(HeadPatterns._fields), *(",".join(f"{value:.9g}" for value in row) for row in rows)]
        return "\n".join(lines) + "\n"
    names = HeadPatterns._fields[2:-1]
    lines = [f"{'head':<7}" + "".join(f"{name:>11}" for name in names) + "  strongest"]
    tokens, _ = run.label_pairs(options.part)
    for row in rows:
        values = "".join(f"{getattr(row, name):11.3f}" for name in names)
        lines.append(f"{f'{row.layer}.{row.head}':<7}{values}  {tokens[row.strongest]}")
    return "\n".join(lines) + "\n"


def _show(run: "Run", options: argparse.Namespace) -> str:
    made = _make_table(run, options)
    if options.json:
        found: dict[str, Any] = {"model": run.model.name, "family": run.model.family, "layer": options.layer}
        found |= {"tokens": run.tokens}
        found |= {"target_tokens": run.target_tokens, "part": options.part} if options.part else {}
        found |= {"shape": made.values.shape, "values": made.values.tolist()}
        return json.dumps(found, ensure_ascii=False) + "\n"
    from attnlab.files.export.terminal_table import as_text

    return as_text(made, terminal_width())


def _make_table(run: "Run", options: argparse.Namespace) -> "Table":
    from attnlab.pretrained.run_tables import make_table

    return make_table(run, options.layer, options.part, options.head)


def _write(run: "Run", options: argparse.Namespace) -> None:
    """Write a layer as a table or a figure; without a layer, every head of every layer as a figure."""
    from attnlab.figures.figure_formats import FIGURES
    from attnlab.files.atomic import write_bytes
    from attnlab.files.export.stage_tables import encode
    from attnlab.files.export.table_formats import TABLES

    ending = options.output.suffix.lower()
    if ending not in (*FIGURES, *TABLES):
        raise MisuseError(
            f"{options.output} needs the extension of a figure or a table: {', '.join((*FIGURES, *TABLES))}."
        )
    if ending in TABLES and options.layer is None:
        raise MisuseError("A table contains one layer; name it with --layer.")
    if ending in TABLES:
        write_bytes(options.output, encode(_make_table(run, options), ending))
    else:
        with offscreen_application(), delay_interrupts():
            data = _draw(run, options, ending)
        write_bytes(options.output, data)


def _draw(run: "Run", options: argparse.Namespace, ending: str) -> bytes:
    from attnlab.figures.panels.figure_file import encode_figure
    from attnlab.figures.panels.figure_source import Sheets
    from attnlab.figures.panels.figure_spec import FigureSpec
    from attnlab.pretrained.run_tables import make_table

    part = options.part or run.model.parts[0]
    layers = range(run.model.stack(part).n_layers) if options.layer is None else [options.layer]
    tables = [make_table(run, layer, part, "all") for layer in layers]
    sheets = Sheets(tuple(map(_to_sheet, tables)), run.model.name, "Layers")
    spec = FigureSpec(
        stages=sheets.all_stages,
        head=options.head,
        width_mm=options.width,
        dpi=options.dpi,
        scale=options.scale,
        mute_sinks=options.mute_sinks,
        ground="dark" if options.dark else "light",
    )
    return encode_figure(sheets, spec, ending)


def _to_sheet(made: "Table") -> Any:
    from attnlab.figures.panels.figure_source import Sheet

    return Sheet(made.stage, made.stage.capitalize(), made.values, made.row_labels, made.column_labels, made.masked)


def _write_or_say(text: str, path: Path | None) -> None:
    from attnlab.files.atomic import write_bytes

    if path is None:
        say(text)
    else:
        write_bytes(path, text.encode())


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
