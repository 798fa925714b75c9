"""Sessions for tests: a small one, invalid ones, and a comparison."""

import hashlib
import io
import json
import tempfile
import zipfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import attnlab
from attnlab.attention.edits import stack_edits
from attnlab.attention.experiment import Experiment, Weights
from attnlab.files.sessions.session_archive import MANIFEST, SUMS, TENSORS
from attnlab.files.sessions.session_file import save

INTEGERS = {2: torch.int16, 4: torch.int32, 8: torch.int64}


def bits(tensor: Tensor) -> Tensor:
    """Return the bits of a tensor, so that -0.0 is not 0.0."""
    return tensor if tensor.dtype == torch.bool else tensor.view(INTEGERS[tensor.element_size()])


def assert_same(one: Experiment, other: Experiment) -> None:
    for part, twin in ((one, other), (one.weights, other.weights), (one.config, other.config)):
        for field in fields(part):
            a, b = getattr(part, field.name), getattr(twin, field.name)
            if isinstance(a, Tensor):
                assert a.dtype == b.dtype, field.name
                assert torch.equal(bits(a), bits(b)), field.name
            elif field.name == "extra":
                assert a.keys() == b.keys()
                assert all(torch.equal(bits(a[name]), bits(b[name])) for name in a)
            elif field.name == "others":
                assert len(a) == len(b)
                for sample, other_sample in zip(a, b, strict=True):
                    assert_same_sample(sample, other_sample)
            elif field.name == "other_layers":
                assert len(a) == len(b)
                for layer in range(len(a) + 1 if a else 0):
                    assert_same(stack_edits.only_layer(one, layer), stack_edits.only_layer(other, layer))
            elif field.name not in ("weights", "config"):
                assert a == b, field.name
                assert type(a) is type(b), field.name


def assert_same_sample(one: attnlab.Sample, other: attnlab.Sample) -> None:
    assert (one.tokens, one.memory_tokens, one.length) == (other.tokens, other.memory_tokens, other.length)
    assert torch.equal(bits(one.embeddings), bits(other.embeddings))
    assert (one.memory_embeddings is None) == (other.memory_embeddings is None)
    if one.memory_embeddings is not None and other.memory_embeddings is not None:
        assert torch.equal(bits(one.memory_embeddings), bits(other.memory_embeddings))


SMALL = Experiment(("a", "b"), [[1.0, 2.0], [3.0, -0.0]], Weights(W_q=[[1.0], [2.0]], W_k=[[3.0], [4.0]]))


def packed(e: Experiment = SMALL) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        save(e, Path(folder) / "s")
        return (Path(folder) / "s").read_bytes()


WHOLE = packed()


def rebuilt(tmp_path: Path, tensors: bytes | None = None, extra: str = "", sums: str = "", **changes: Any) -> Path:
    """Write a session with a changed manifest and correct checksums; ... removes a key."""
    with zipfile.ZipFile(io.BytesIO(WHOLE)) as archive:
        manifest, members = (
            json.loads(archive.read(MANIFEST)),
            {TENSORS: archive.read(TENSORS) if tensors is None else tensors},
        )
    of_experiment = {k: v for k, v in changes.items() if k not in ("format", "version", "attnlab", "pins", "view")}
    manifest |= {k: v for k, v in changes.items() if k not in of_experiment}
    manifest["experiment"] = {k: v for k, v in (manifest["experiment"] | of_experiment).items() if v is not ...}
    members[MANIFEST] = json.dumps({k: v for k, v in manifest.items() if v is not ...}).encode()
    path = tmp_path / "made.attnlab"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
            sums += f"{hashlib.sha256(data).hexdigest()}  {name}\n"
        archive.writestr(SUMS, sums)
        if extra:
            archive.writestr(extra, b"")
    return path
