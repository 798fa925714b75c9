"""Generated code: a PyTorch script that computes every stage of an experiment, its numbers written out exactly."""

import base64
import zlib

import numpy as np
import torch
from torch import Tensor

from attnlab.attention.experiment import PROJECTIONS, Experiment
from attnlab.attention.registry import tables
from attnlab.attention.stages import STAGES, about

LITERAL_LIMIT = 2048
"""Numbers that are written out as lists; larger arrays are packed, as nobody would read them."""

_UNPACK = '''

def unpacked(text, shape, kind):
    """Return an array from its bytes (little-endian), packed by zlib and written as base 64."""
    data = bytearray(zlib.decompress(base64.b64decode(text)))
    return torch.frombuffer(data, dtype=kind).reshape(shape)

'''


def script(e: Experiment, title: str, dtype: str = "float32") -> str:
    """Return a script that needs PyTorch alone, computes each stage in ``dtype`` and prints it."""
    arrays = {name: array for name, array in _arrays(e).items() if array is not None}
    packed = any(array.numel() > LITERAL_LIMIT for array in arrays.values())
    name = ascii(title)[1:-1].replace('"', "'")
    lines = [f'"""Attention, stage by stage, as attnlab computes it: {name}. Right multiplication: Q = X @ W_q."""', ""]
    body = _stage_lines(e)
    standard = {*(("import base64", "import zlib") if packed else ()), *filter(_is_import, body)}
    lines += [*sorted(standard), ""] if standard else []
    lines += ["import torch", *([_UNPACK.rstrip("\n")] if packed else []), ""]
    lines += ["torch.set_printoptions(precision=4, sci_mode=False)", f"dtype = torch.{dtype}", ""]
    lines += [f"tokens = {list(e.tokens)!a}"]
    lines += [] if e.memory_tokens is None else [f"memory_tokens = {list(e.memory_tokens)!a}"]
    for name, array in arrays.items():
        lines.append(f"{name} = {_literal(array)}" + (".to(dtype)" if array.is_floating_point() else ""))
    lines += ["", *(line for line in body if not _is_import(line))]
    return "\n".join(lines) + "\n"


def _is_import(line: str) -> bool:
    return line.startswith("import ")


def _arrays(e: Experiment) -> dict[str, Tensor | None]:
    given = {name: getattr(e.weights, name) for name in PROJECTIONS}
    used = {name: e.weights.extra[name] for name in tables(e.config)}
    return {"embeddings": e.embeddings, "memory": e.memory_embeddings, **given, **used, "mask": e.config.mask}


def _stage_lines(e: Experiment) -> list[str]:
    """Return the code of each stage under its title, and the lines that print them all."""
    present = [stage for stage in STAGES if stage.present(e)]
    lines = ["x = embeddings"]
    for stage in present:
        lines += [f"# {stage.title}: {about(stage, e).replace('−', '-')}", *stage.code(e).splitlines(), ""]
    lines += ["stages = {", *(f'    "{stage.name}": {stage.variable},' for stage in present), "}"]
    lines += ["for name, stage in stages.items():", "    print(name, list(stage.shape))", "    print(stage)"]
    return lines


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
