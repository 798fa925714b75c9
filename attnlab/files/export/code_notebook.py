"""Generated code as a Jupyter notebook (nbformat 4.5), with one cell per stage, which prints it, under its formula."""

import json
from typing import Any

from attnlab.attention.experiment import Experiment
from attnlab.attention.stages.remarks import find_stage_remarks
from attnlab.attention.stages.table import Stage, about, name_axes
from attnlab.files.export.matrix_text import markdown_text
from attnlab.files.export.script import Code, code, list_stages

_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"},
}
_INTRODUCTION = (
    "Attention, stage by stage, as attnlab computes it. Matrices multiply from the right: Q = X @ W_q. "
    "The cells need only PyTorch; change a number and run the cells below it again."
)


def notebook(e: Experiment, title: str, dtype: str = "float32") -> str:
    """Return the text of an .ipynb file that computes each stage in ``dtype`` and prints it.

    The cells can be run again in any order once all have run; ``stages`` holds all stages by name, and ``batch`` those
    of each sequence of a batch.
    """
    made = code(e, dtype)
    cells = [
        _markdown("title", f"# {markdown_text(title)}\n\n{_INTRODUCTION}"),
        _code("setup", _setup(made)),
        _markdown("about-given", "## Inputs\n\nTokens, embeddings and weights with all digits."),
        _code("given", "\n".join((*made.given, "x = embeddings"))),
    ]
    for stage, lines in made.stages:
        cells += [_markdown(f"about-{stage.name}", _heading(stage, e, dtype)), _code(stage.name, _stage(stage, lines))]
    cells += [_markdown("about-all", "## All stages by name"), _code("all", f"stages = {list_stages(made.stages)}")]
    if made.batch:
        text = f"## The whole batch\n\nThe cells above compute sequence {e.item} (from 0); these compute the others."
        cells += [_markdown("about-batch", text), _code("others", "\n\n".join(made.others))]
        cells += [_code("batch", f'batch = {made.batch}\n[each["output"] for each in batch]')]
    book = {"cells": cells, "metadata": _METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, ensure_ascii=True, indent=1) + "\n"


def _setup(made: Code) -> str:
    helpers = made.helpers.strip("\n")
    parts = ["\n".join(made.standard), "import torch", helpers and f"\n{helpers}\n", "\n".join(made.setup)]
    return "\n\n".join(part for part in parts if part)


def _heading(stage: Stage, e: Experiment, dtype: str) -> str:
    axes = " × ".join(axis.replace("_", r"\_") for axis in name_axes(stage, e))
    told = "\n\n".join((about(stage, e), *find_stage_remarks(e, stage.name, dtype)))
    return f"## {stage.title}\n\n$$ {stage.formula(e)} $$\n\n{told}\n\n*[{axes}]*"


def _stage(stage: Stage, lines: tuple[str, ...]) -> str:
    return "\n".join((*lines, f'print("{stage.name}", list({stage.variable}.shape))', f"print({stage.variable})"))


def _markdown(name: str, text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text.splitlines(keepends=True)}


def _code(name: str, text: str) -> dict[str, Any]:
    lines = text.splitlines(keepends=True)
    return {"cell_type": "code", "execution_count": None, "id": name, "metadata": {}, "outputs": [], "source": lines}
