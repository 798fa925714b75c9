"""Files of weights and pasted texts for :mod:`tools.file_kinds`: valid ones, how to corrupt them, the real readers."""

import io
import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from tools import mutants
from tools.safe_reading import Kind, check_sentence

# Weights


@cache
def make_weights() -> dict[str, tuple[bytes, ...]]:
    """Return weight files by ending, in the layouts of several libraries."""
    import numpy as np
    import torch
    from safetensors.torch import save

    r = torch.Generator().manual_seed(0)
    linear = {
        f"h.{n}.attn.{p}_proj.{w}": torch.randn(*((8, 8) if w == "weight" else (8,)), generator=r)
        for n in range(2)
        for p in "qkvo"
        for w in ("weight", "bias")
    }
    plain = {f"W_{p}": torch.randn(4, 6 if p != "o" else 4, generator=r) for p in "qkv"}
    fused = {
        "transformer.h.0.attn.c_attn.weight": torch.randn(8, 24, generator=r),
        "wte.weight": torch.randn(9, 8, generator=r),
    }
    states = [linear, plain, fused, {"in_proj_weight": torch.randn(12, 4, generator=r), "x": torch.zeros(0, 3)}]
    states.append({name: tensor.to(torch.bfloat16) for name, tensor in plain.items()})
    found: dict[str, list[bytes]] = {}
    for state in states:
        found.setdefault("safetensors", []).append(save(state))
        for old in (False, True):
            buffer = io.BytesIO()
            torch.save({"model": state, "step": 3}, buffer, _use_new_zipfile_serialization=not old)
            found.setdefault("pt", []).append(buffer.getvalue())
        arrays = {name: tensor.float().numpy() for name, tensor in state.items()}
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **arrays)
        found.setdefault("npz", []).append(buffer.getvalue())
        found.setdefault("json", []).append(
            json.dumps({name: array.tolist() for name, array in arrays.items()}).encode()
        )
        table = next(iter(arrays.values()))
        buffer = io.BytesIO()
        np.save(buffer, table)
        found.setdefault("npy", []).append(buffer.getvalue())
        rows = [[f"{number:.4f}" for number in row] for row in np.atleast_2d(table)]
        for ending, mark in (("csv", ","), ("csv", ";"), ("tsv", "\t")):
            found.setdefault(ending, []).append("\n".join(mark.join(row) for row in rows).encode())
    found["npy"].append(_encode_npy(np.arange(6.0).reshape(3, 2)))
    found["pt"] += [_pickle_program(), *found["pt"]]
    return {ending: tuple(each) for ending, each in found.items()}


def _encode_npy(array: Any) -> bytes:
    import numpy as np

    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


class _Runs:
    """An object that would run code if it were unpickled."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        import os

        return os.system, ("true",)


def _pickle_program() -> bytes:
    """Return a torch file that runs a program if it is unpickled unsafely."""
    import torch

    buffer = io.BytesIO()
    torch.save({"W_q": torch.ones(2, 2), "more": _Runs()}, buffer)
    return buffer.getvalue()


ENDINGS = {"pt": (".pt", ".pth", ".bin")}
CONFIG = {"n_head": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "multi_query": False}


def _spoil_weights(ending: str) -> Callable[[random.Random, Path], None]:
    def spoil(r: random.Random, folder: Path) -> None:
        good = make_weights()[ending]
        data = r.choice(good)
        if ending in ("csv", "tsv"):
            data = mutants.spoil_text(r, data, good)
        elif ending == "json":
            data = mutants.spoil_json(r, json.loads(data)) if r.random() < 0.7 else mutants.spoil_text(r, data, good)
        elif ending == "safetensors":
            data = mutants.spoil_tensors(r, data) if r.random() < 0.7 else mutants.spoil_bytes(r, data, good)
        elif ending == "npy":
            data = mutants.spoil_npy(r, data)
        elif data[:2] == b"PK" and r.random() < 0.8:
            members = mutants.read_members(data)
            name = r.choice(list(members))
            members[name] = mutants.spoil_npy(r, members[name]) if ending == "npz" else _spoil_pickle(r, members, name)
            data = mutants.write_zip(list(members.items())) if r.random() < 0.7 else mutants.spoil_zip(r, members)
        else:
            data = mutants.spoil_bytes(r, data, good)
        (folder / f"w{r.choice(ENDINGS.get(ending, ('.' + ending,)))}").write_bytes(data)
        if r.random() < 0.3:
            (folder / "config.json").write_bytes(mutants.spoil_json(r, CONFIG))

    return spoil


def _spoil_pickle(r: random.Random, members: dict[str, bytes], name: str) -> bytes:
    """Corrupt one member of a torch file, mostly its list of tensors, or put a program there."""
    pickled = next(each for each in members if each.endswith("data.pkl"))
    if r.random() < 0.1:
        members[pickled] = b"cos\nsystem\n(S'true'\ntR."
        return members[name]
    if r.random() < 0.6:
        members[pickled] = mutants.spoil_bytes(r, members[pickled])
        return members[name]
    return mutants.spoil_bytes(r, members[name])


def _read_weights(folder: Path) -> None:
    """Read weights as the window does: every array, and every layer found, put into an experiment."""
    import attnlab
    from attnlab.base.errors import AttnlabError
    from attnlab.files.weights.weights_apply import apply
    from attnlab.files.weights.weights_in import fitting_heads, guess
    from attnlab.files.weights.weights_source import files_source

    e = attnlab.preset("the-cat-sat")
    path = next(each for each in folder.iterdir() if each.stem == "w")
    source = files_source([path])
    for array in list(source.arrays.values())[:40]:
        if not array.reason:
            try:
                array.tensor()
            except AttnlabError as error:
                check_sentence(error)
    for proposal in guess(source.arrays, e, source.heads)[:3]:
        heads = fitting_heads(proposal, source.arrays)
        try:
            apply(proposal, source.arrays, e, n_heads=heads[-1] if heads else None, embeddings="drawn")
        except AttnlabError as error:
            check_sentence(error)
    attnlab.read_weights(path, e)


# Text


_BLOCKS = (
    b"1\t2\t3\n4\t5\t6\n",
    b"0,5;1,25\n2;3\n",
    b"[[1, 2], [3.5, -4e-3]]",
    b"a,b\n1,2\n3,4\n",
    b"0,5",
    b"array([[1., 2.],\n       [3., 4.]], dtype=float32)",
    b"1 2 3\n4 5 6",
    b"tensor([[0.1, 0.2], [np.float64(0.3), 0.4]], device='cuda:0', grad_fn=<X>)",
    b',the,cat\nthe,1,2\n"cat",3,4\n',
    b"1/2\t\xc2\xbd\n\xe2\x88\x9e\t-inf\n",
    b'{"W_q": [[1, 2], [3, 4]], "W_k": [[1, 2], [3, 4]]}',
)


def _spoil_block(r: random.Random, folder: Path) -> None:
    (folder / "block.txt").write_bytes(mutants.spoil_text(r, r.choice(_BLOCKS), _BLOCKS))


def _read_block(folder: Path) -> None:
    """Read a text as from the clipboard: as a table block, weights, a number, names and tokens."""
    import attnlab
    from attnlab.attention.edits.token_edits import tokenize
    from attnlab.base.block_text import parse_block
    from attnlab.base.errors import AttnlabError
    from attnlab.base.number_text import parse_number
    from attnlab.files.weights.weights_in import guess
    from attnlab.files.weights.weights_source import text_source
    from attnlab.lessons.exercise import parse_students
    from attnlab.lessons.grading import read_number

    text = (folder / "block.txt").read_bytes().decode("utf-8", "replace")
    for take in (
        parse_number,
        read_number,
        lambda t: tokenize(t),
        lambda t: parse_students(t.split("\n")),
        parse_block,
    ):
        try:
            take(text)
        except AttnlabError as error:
            check_sentence(error)
    source = text_source(text)
    guess(source.arrays, attnlab.preset("journey"), source.heads)


KINDS = {
    **{
        f"weights-{ending}": Kind(_spoil_weights(ending), _read_weights)
        for ending in ("csv", "tsv", "json", "npy", "npz", "safetensors", "pt")
    },
    "block": Kind(_spoil_block, _read_block),
}
