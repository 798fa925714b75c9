"""What ``attnlab model`` prints and writes: descriptions, tables, predictions, patterns, figures."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnlab.base.console import say, terminal_width
from attnlab.base.counted import format_bounds
from attnlab.base.errors import ArgumentError
from attnlab.cli.command_line import MisuseError, delay_interrupts, offscreen_application
from attnlab.cli.figure_options import make_figure_spec

if TYPE_CHECKING:
    from attnlab.figures.scales import Scale
    from attnlab.files.export.stage_tables import Table
    from attnlab.pretrained.captured import Capture
    from attnlab.pretrained.many_texts import ManyTexts, TextTargets
    from attnlab.pretrained.model import Model
    from attnlab.pretrained.model_run import Run
    from attnlab.pretrained.patterns import HeadPatterns


def describe_capture(capture: "Capture", options: argparse.Namespace) -> str:
    """Return what was captured, in a few lines or as JSON."""
    found = {
        "layers": capture.n_layers,
        "heads": capture.n_heads,
        "parts": list(capture.parts),
        "difference": capture.difference,
    }
    if options.json:
        said = {"model": capture.name, **found, "tokens": capture.tokens, "target_tokens": capture.target_tokens}
        return json.dumps(said, ensure_ascii=False) + "\n"
    rows = {
        "layers": ", ".join(f"{capture.count_layers(part)} in {part}" for part in capture.parts),
        "heads": f"{capture.n_heads} in each layer, counted from 0",
        "difference": f"at most {capture.difference:.1e} from the model’s own output",
        "tokens": f"{len(capture.tokens)}: {' '.join(capture.tokens)}",
    }
    if capture.target_tokens:
        rows["target"] = f"{len(capture.target_tokens)}: {' '.join(capture.target_tokens)}"
    return f"{capture.name}, a capture\n" + "".join(f"  {name:<11}{row}\n" for name, row in rows.items())


def describe(model: "Model", run: "Run | None", options: argparse.Namespace) -> str:
    """Return what a model is, and the tokens of a text in it."""
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


def list_predictions(run: "Run", options: argparse.Namespace) -> str:
    """Return where a model predicts, and the likeliest tokens there, one a line."""
    found = run.predictions(-1 if options.position is None else options.position, options.predict)
    position = run.find_position(-1 if options.position is None else options.position)
    if options.json:
        predictions = [{"token": token, "probability": p} for token, p in found]
        return json.dumps({"position": position, "predictions": predictions}, ensure_ascii=False) + "\n"
    from attnlab.files.export.terminal_table import label

    read = label((run.target_tokens or run.tokens)[position])
    where = "after" if run.model.architecture.predicts == "next" else "at"
    lines = "".join(f"{p:7.4f}  {label(token)}\n" for token, p in found)
    return f"{where} position {position}, {read}\n{lines}"


def list_patterns(run: "Run | Capture", options: argparse.Namespace) -> str:
    """Return what each head looks at, as a table, CSV or JSON."""
    return format_patterns(run.patterns(options.part), run.label_pairs(options.part)[0], options)


def format_patterns(rows: "Sequence[HeadPatterns]", tokens: Sequence[str], options: argparse.Namespace) -> str:
    """Return scores as a table, CSV or JSON; ``tokens`` () for means over texts, which have no strongest token."""
    from attnlab.pretrained.pattern_tables import encode_patterns
    from attnlab.pretrained.patterns import HeadPatterns

    fields = HeadPatterns._fields if tokens else HeadPatterns._fields[:-1]
    if options.json:
        known = [{name: value for name in fields if (value := getattr(row, name)) == value} for row in rows]
        return json.dumps(known) + "\n"
    if options.output is not None:
        return encode_patterns(rows, fields)
    names = HeadPatterns._fields[2:-1]
    lines = [f"{'head':<7}" + "".join(f"{name:>11}" for name in names) + ("  strongest" if tokens else "")]
    for row in rows:
        values = "".join(_format_score(getattr(row, name)) for name in names)
        lines.append(f"{f'{row.layer}.{row.head}':<7}{values}" + (f"  {tokens[row.strongest]}" if tokens else ""))
    return "\n".join(lines) + "\n"


def _format_score(score: float) -> str:
    """Return a score in its column; a capture has no induction, which needs the model."""
    return f"{score:11.3f}" if score == score else f"{'–':>11}"


def list_targets(found: "ManyTexts", model: "Model", options: argparse.Namespace) -> str:
    """Return the strongest target of every token in every layer, of one head or of the mean of the heads."""
    head = -1 if isinstance(options.head, str) else options.head
    if head >= model.n_heads:
        raise ArgumentError(f"There is no head {head}; it needs {format_bounds(0, model.n_heads - 1)} or mean.")
    from attnlab.pretrained import pattern_tables as tables

    plain = options.mute_sinks
    if options.json:
        rows = tables.list_targets(found, head, plain=plain)
        found_rows = [dict(zip(tables.TARGET_FIELDS, row, strict=True)) for row in rows]
        return json.dumps(found_rows, ensure_ascii=False) + "\n"
    if options.output is not None:
        return tables.encode_targets(found, head, plain=plain)
    return "\n".join(_format_targets(each, head, plain) for each in found.texts)


def _format_targets(each: "TextTargets", head: int, plain: bool) -> str:
    from attnlab.pretrained.tokenizer import readable

    rows = [["", *(f"L{layer}" for layer in range(len(each.keys)))]]
    for token, name in enumerate(each.query_tokens):
        found = [each.find(layer, head, token, plain=plain) for layer in range(len(each.keys))]
        rows.append([readable(name), *(f"{target} {weight:.2f}" if target else "–" for target, weight in found)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    return f"{each.text}\n" + "\n".join(lines) + "\n"


def show_layer(run: "Run | Capture", options: argparse.Namespace) -> str:
    """Return the map of a layer as a table or JSON."""
    made = _make_table(run, options)
    if options.json:
        from attnlab.pretrained.captured import Capture

        family = "a capture" if isinstance(run, Capture) else run.model.family
        found: dict[str, Any] = {"model": _find_model(run).name, "family": family, "layer": options.layer}
        found |= {"tokens": run.tokens}
        found |= {"target_tokens": run.target_tokens, "part": options.part} if options.part else {}
        found |= {"shape": made.values.shape, "values": made.values.tolist()}
        return json.dumps(found, ensure_ascii=False) + "\n"
    from attnlab.files.export.terminal_table import as_text

    return as_text(made, terminal_width())


def _find_model(run: "Run | Capture") -> Any:
    """Return the model of a run; a capture stands for its model, whose name and parts it has."""
    return getattr(run, "model", run)


def _make_table(run: "Run | Capture", options: argparse.Namespace) -> "Table":
    from attnlab.pretrained.run_tables import make_table

    return make_table(run, options.layer, options.part, options.head)


def write_session(run: "Run", options: argparse.Namespace) -> None:
    """Write a layer as a session, with ``--block`` as a whole block."""
    from attnlab.files.sessions.session_file import save_scene

    e = run.experiment(options.layer, options.part, block=options.block)
    part = f" {options.part or run.model.parts[0]}" if len(run.model.parts) > 1 else ""
    save_scene(e, options.output, {"title": f"{run.model.name} ·{part} layer {options.layer}"})


def write_layers(run: "Run | Capture", options: argparse.Namespace) -> None:
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


def _draw(run: "Run | Capture", options: argparse.Namespace, ending: str) -> bytes:
    from attnlab.figures.panels.figure_file import encode_figure
    from attnlab.figures.panels.figure_source import Sheets
    from attnlab.figures.scales import find_scale, join_scales
    from attnlab.pretrained.run_tables import make_table

    model = _find_model(run)
    part = options.part or model.parts[0]
    layers = range(model.count_layers(part)) if options.layer is None else [options.layer]
    tables = [make_table(run, layer, part, "all") for layer in layers]
    scale = join_scales([find_scale(each.values, "probability", each.masked) for each in tables])
    sheets = Sheets(tuple(_to_sheet(each, scale) for each in tables), model.name, "Layers", shared=True)
    return encode_figure(sheets, make_figure_spec(options, sheets.all_stages), ending)


def _to_sheet(made: "Table", scale: "Scale") -> Any:
    from attnlab.figures.panels.figure_source import Sheet

    labels = made.row_labels, made.column_labels
    return Sheet(made.stage, made.stage.capitalize(), made.values, *labels, made.masked, scale=scale)


def write_or_say(text: str, path: Path | None) -> None:
    """Write a text to a file, or print it without one."""
    from attnlab.files.atomic import write_bytes

    if path is None:
        say(text)
    else:
        write_bytes(path, text.encode())
