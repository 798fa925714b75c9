"""Generates PyTorch code, also as a script, that computes every stage of an experiment from its exact numbers."""

import base64
import zlib
from dataclasses import dataclass
from textwrap import indent, wrap

import numpy as np
import torch
from torch import Tensor

from attnlab.attention.edits.batches import select
from attnlab.attention.edits.stack_edits import select_layer
from attnlab.attention.experiment import PROJECTIONS, Experiment
from attnlab.attention.registries.registry import all_tables, tables
from attnlab.attention.stages.presence import find_last
from attnlab.attention.stages.remarks import find_stage_remarks
from attnlab.attention.stages.spelling import variable
from attnlab.attention.stages.table import STAGES, Stage, about
from attnlab.attention.unwritten import check_unwritten

_CONSOLE = {"−": "-", "÷": "/", "√d_k": "sqrt(d_k)", "√d_model": "sqrt(d_model)", "“": '"', "”": '"', "’": "'"}
"""What a script writes for characters that some consoles cannot print."""
_PRINT_OTHERS = (
    "for place, each in enumerate(batch):",
    "    if each is not stages:",
    "        for name, stage in each.items():",
    '            print(f"sequence {place}: {name}", list(stage.shape))',
    "            print(stage)",
)
LITERAL_LIMIT = 2048
"""The maximum count of numbers written as lists; larger arrays are compressed, as nobody would read them."""

_UNPACK = '''

def unpacked(text, shape, kind):
    """Return an array from its bytes (little-endian), packed by zlib and written as base 64."""
    data = bytearray(zlib.decompress(base64.b64decode(text)))
    return torch.frombuffer(data, dtype=kind).reshape(shape)

'''


@dataclass(frozen=True, slots=True)
class Code:
    """The parts of the generated code: imports, definitions, inputs, and the lines of each stage in order.

    ``others`` are functions that compute the other sequences of a batch. ``batch`` is an expression for the list of all
    sequences' stages, with ``stages`` for the present one. Without a batch both are empty.
    """

    standard: tuple[str, ...]
    helpers: str
    setup: tuple[str, ...]
    given: tuple[str, ...]
    stages: tuple[tuple[Stage, tuple[str, ...]], ...]
    others: tuple[str, ...] = ()
    batch: str = ""


def code(e: Experiment, dtype: str = "float32") -> Code:
    """Return the code that computes each stage of an experiment in ``dtype`` and needs only PyTorch.

    ``given`` assigns the tokens and arrays; after it, ``x`` must be set to the embeddings.
    """
    check_unwritten(e)
    arrays = _sequence(e) | _find_shared(e)
    lower = [select_layer(e, layer) for layer in range(e.layer)]
    every = [*arrays.values(), *(array for each in lower for array in _find_shared(each).values())]
    packed = any(array.numel() > LITERAL_LIMIT for array in every)
    lines = [line for each in (e, *lower) for stage in STAGES if stage.present(each) for line in _lines(stage, each)]
    places = [place for place in range(e.n_items) if place != e.item]
    names = [f"sequence_{place}()" if place != e.item else "stages" for place in range(e.n_items)]
    return Code(
        standard=tuple(sorted({*(("import base64", "import zlib") if packed else ()), *filter(_is_import, lines)})),
        helpers=(_UNPACK if packed else "") + "".join(f"\n\n{_layer_function(e, i)}" for i in range(e.layer)),
        setup=("torch.set_printoptions(precision=4, sci_mode=False)", f"dtype = torch.{dtype}"),
        given=(*_tokens(e), *_write_given(arrays)),
        stages=_read_below(_stages(e), e.layer),
        others=tuple(_function(select(e, place)) for place in places),
        batch=f"[{', '.join(names)}]" if places else "",
    )


def _lines(stage: Stage, e: Experiment) -> list[str]:
    return stage.code(e).splitlines()


def list_stages(stages: tuple[tuple[Stage, tuple[str, ...]], ...]) -> str:
    """Return an expression for a dictionary of the stages by name, valid after their lines have run."""
    return "{\n" + "".join(f'    "{stage.name}": {stage.variable},\n' for stage, _ in stages) + "}"


def _stages(e: Experiment) -> tuple[tuple[Stage, tuple[str, ...]], ...]:
    present = ((stage, stage.code(e).splitlines()) for stage in STAGES if stage.present(e))
    return tuple((stage, tuple(line for line in lines if not _is_import(line))) for stage, lines in present)


def _read_below(
    stages: tuple[tuple[Stage, tuple[str, ...]], ...], layer: int
) -> tuple[tuple[Stage, tuple[str, ...]], ...]:
    """Return the stages, of which the first reads what leaves the layers below."""
    (first, lines), *rest = stages
    return ((first, (*(f"x = layer_{i + 1}(x)" for i in range(layer)), *lines)), *rest)


def _layer_function(e: Experiment, layer: int) -> str:
    """Return the code of a function that computes what leaves a lower layer of a stack from what enters it."""
    below = select_layer(e, layer)
    stages = _stages(below)
    lines = [f'"""Return what leaves layer {layer + 1} for x, what enters it."""', *_write_given(_find_shared(below))]
    body = "\n".join((*lines, *(line for _, each in stages for line in each), f"return {variable(find_last(below))}"))
    return f"def layer_{layer + 1}(x):\n{indent(body, '    ')}\n"


def _function(e: Experiment) -> str:
    """Return the code of a function that computes another sequence of a batch in local variables."""
    stages = _stages(e)
    lines = [f'"""Return the stages of sequence {e.item} of the batch, counted from 0."""']
    lines += [
        *_tokens(e),
        *_write_given(_sequence(e)),
        "x = embeddings",
        *(line for _, body in stages for line in body),
    ]
    body = "\n".join((*lines, f"return {list_stages(stages)}"))
    return f"def sequence_{e.item}():\n{indent(body, '    ')}\n"


def _tokens(e: Experiment) -> list[str]:
    memory = [] if e.memory_tokens is None else [f"memory_tokens = {list(e.memory_tokens)!a}"]
    return [f"tokens = {list(e.tokens)!a}", *memory]


def _write_given(arrays: dict[str, Tensor]) -> list[str]:
    exact = {name for name, table in all_tables().items() if table.is_exact}
    rounded = {name for name, array in arrays.items() if array.is_floating_point() and name not in exact}
    kinds = {name: ".to(dtype)" if name in rounded else "" for name in arrays}
    return [f"{name} = {_literal(array)}{kinds[name]}" for name, array in arrays.items()]


def script(e: Experiment, title: str, dtype: str = "float32") -> str:
    """Return a script that computes each stage in ``dtype``, prints it and needs only PyTorch."""
    made = code(e, dtype)
    title = format_title(title)
    lines = [f'"""Attention, stage by stage, as attnlab computes it: {title}. Right multiplication: Q = X @ W_q."""']
    lines += ["", *made.standard, ""] if made.standard else [""]
    lines += ["import torch", *([made.helpers.rstrip("\n")] if made.helpers else []), ""]
    lines += [*made.setup, "", *made.given, "", "x = embeddings"]
    for stage, body in made.stages:
        lines += [f"# {stage.title}: {about(stage, e).replace('−', '-')}"]
        for remark in find_stage_remarks(e, stage.name, dtype):
            lines += wrap(_write_ascii(remark), width=100, initial_indent="# ", subsequent_indent="# ")
        lines += [*body, ""]
    lines.append(f"stages = {list_stages(made.stages)}")
    lines += ["for name, stage in stages.items():", "    print(name, list(stage.shape))", "    print(stage)"]
    if made.batch:
        lines += ["", f"# The other sequences of the batch; the one above is number {e.item}, counted from 0", ""]
        lines += [*(f"\n{function}" for function in made.others), f"\nbatch = {made.batch}", *_PRINT_OTHERS]
    return "\n".join(lines) + "\n"


def _write_ascii(sentence: str) -> str:
    """Return a sentence in the characters that every console can print."""
    for other, plain in _CONSOLE.items():
        sentence = sentence.replace(other, plain)
    return sentence


def format_title(title: str) -> str:
    """Return a title that is safe inside quotes of any kind: in ASCII, on one line."""
    return ascii(title)[1:-1].replace('"', "'")


def _is_import(line: str) -> bool:
    return line.startswith("import ")


def _sequence(e: Experiment) -> dict[str, Tensor]:
    """Return the arrays of one sequence by name."""
    return {"embeddings": e.embeddings} | ({} if e.memory_embeddings is None else {"memory": e.memory_embeddings})


def _find_shared(e: Experiment) -> dict[str, Tensor]:
    """Return by name the arrays that all sequences of a batch share."""
    given = {name: getattr(e.weights, name) for name in PROJECTIONS}
    used = {name: e.weights.extra[name] for name in tables(e.config)}
    return {name: array for name, array in {**given, **used, "mask": e.config.mask}.items() if array is not None}


def _literal(array: Tensor) -> str:
    """Return an expression for exactly this array."""
    kind = str(array.dtype)
    if array.numel() > LITERAL_LIMIT:
        raw = array.contiguous().view(torch.uint8).numpy().tobytes()
        text = base64.b64encode(zlib.compress(raw, 9)).decode()
        return f'unpacked(\n    "{text}",\n    {tuple(array.shape)}, {kind})'
    if array.ndim == 1:
        return f"torch.tensor({_row(array)}, dtype={kind})"
    rows = ",\n    ".join(map(_row, array))
    return f"torch.tensor([\n    {rows},\n], dtype={kind})"


def _row(array: Tensor) -> str:
    if array.dtype == torch.bool:
        return str(array.tolist())
    return "[" + ", ".join(map(_exact, array.tolist(), array)) + "]"


def _exact(value: float, given: Tensor) -> str:
    """Return the shortest decimal that represents exactly this number."""
    if given.dtype == torch.float32:
        short = str(np.float32(value))
        if float(np.float32(float(short))) == value:
            return short
    return repr(value)
