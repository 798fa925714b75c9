"""Generated code: PyTorch that computes every stage of an experiment, its numbers written out exactly; as a script."""

import base64
import zlib
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnlab.attention.experiment import PROJECTIONS, Experiment
from attnlab.attention.registry import tables
from attnlab.attention.stages import STAGES, Stage, about

LITERAL_LIMIT = 2048
"""Numbers that are written out as lists; larger arrays are packed, as nobody would read them."""

_UNPACK = '''

def unpacked(text, shape, kind):
    """Return an array from its bytes (little-endian), packed by zlib and written as base 64."""
    data = bytearray(zlib.decompress(base64.b64decode(text)))
    return torch.frombuffer(data, dtype=kind).reshape(shape)

'''


@dataclass(frozen=True, slots=True)
class Code:
    """The parts of the generated code: what is imported, defined and given, and the lines of each stage in order."""

    standard: tuple[str, ...]
    helpers: str
    setup: tuple[str, ...]
    given: tuple[str, ...]
    stages: tuple[tuple[Stage, tuple[str, ...]], ...]


def code(e: Experiment, dtype: str = "float32") -> Code:
    """Return the code that computes each stage of an experiment in ``dtype``; it needs PyTorch alone.

    ``given`` makes the tokens and arrays, after which ``x`` is to be the embeddings.
    """
    arrays = {name: array for name, array in _arrays(e).items() if array is not None}
    packed = any(array.numel() > LITERAL_LIMIT for array in arrays.values())
    present = [(stage, stage.code(e).splitlines()) for stage in STAGES if stage.present(e)]
    imports = {line for _, lines in present for line in lines if _is_import(line)}
    given = [f"tokens = {list(e.tokens)!a}"]
    given += [] if e.memory_tokens is None else [f"memory_tokens = {list(e.memory_tokens)!a}"]
    for name, array in arrays.items():
        given.append(f"{name} = {_literal(array)}" + (".to(dtype)" if array.is_floating_point() else ""))
    return Code(
        standard=tuple(sorted({*(("import base64", "import zlib") if packed else ()), *imports})),
        helpers=_UNPACK if packed else "",
        setup=("torch.set_printoptions(precision=4, sci_mode=False)", f"dtype = torch.{dtype}"),
        given=tuple(given),
        stages=tuple((stage, tuple(line for line in lines if not _is_import(line))) for stage, lines in present),
    )


def script(e: Experiment, title: str, dtype: str = "float32") -> str:
    """Return a script that needs PyTorch alone, computes each stage in ``dtype`` and prints it."""
    made = code(e, dtype)
    lines = [
        f'"""Attention, stage by stage, as attnlab computes it: {plain(title)}. Right multiplication: Q = X @ W_q."""'
    ]
    lines += ["", *made.standard, ""] if made.standard else [""]
    lines += ["import torch", *([made.helpers.rstrip("\n")] if made.helpers else []), ""]
    lines += [*made.setup, "", *made.given, "", "x = embeddings"]
    for stage, body in made.stages:
        lines += [f"# {stage.title}: {about(stage, e).replace('−', '-')}", *body, ""]
    lines += ["stages = {", *(f'    "{stage.name}": {stage.variable},' for stage, _ in made.stages), "}"]
    lines += ["for name, stage in stages.items():", "    print(name, list(stage.shape))", "    print(stage)"]
    return "\n".join(lines) + "\n"


def plain(title: str) -> str:
    """Return a title as it can stand between quotes of any kind: in ASCII, on one line."""
    return ascii(title)[1:-1].replace('"', "'")


def _is_import(line: str) -> bool:
    return line.startswith("import ")


def _arrays(e: Experiment) -> dict[str, Tensor | None]:
    given = {name: getattr(e.weights, name) for name in PROJECTIONS}
    used = {name: e.weights.extra[name] for name in tables(e.config)}
    return {"embeddings": e.embeddings, "memory": e.memory_embeddings, **given, **used, "mask": e.config.mask}


def _literal(array: Tensor) -> str:
    """Return an expression that makes exactly this array."""
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
    """Return the shortest decimals that become exactly this number again."""
    if given.dtype == torch.float32:
        short = str(np.float32(value))
        if float(np.float32(float(short))) == value:
            return short
    return repr(value)
