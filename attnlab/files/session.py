"""Session files (.attnlab): a zip of one JSON manifest and one safetensors file, never pickle."""

import hashlib
import io
import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, NoReturn

import torch
from safetensors import SafetensorError
from safetensors.torch import load as read_tensors
from safetensors.torch import save as tensor_bytes
from torch import Tensor

from attnlab.attention.experiment import PROJECTIONS, AttentionConfig, Experiment, Sample, Weights
from attnlab.errors import AttnlabError, ExperimentError, FileError
from attnlab.files.atomic import unwritable, why, write_bytes

FORMAT, VERSION = "attnlab", 1
MANIFEST, TENSORS = "manifest.json", "tensors.safetensors"
MANIFEST_LIMIT, TOTAL_LIMIT = 16 << 20, 512 << 20
"""Bytes that the manifest, and everything together, may take when unpacked."""

_SETTINGS = tuple(field.name for field in fields(AttentionConfig) if field.name != "mask")
_TENSORS = frozenset({"embeddings", "memory_embeddings", "mask", *PROJECTIONS})
_EXTRA, _OTHERS = "extra/", "others/"
"""How the names of tables of registry entries, and of arrays of the other sequences of a batch, begin."""
_OF_SAMPLE = ("tokens", "memory_tokens", "length")
"""What the manifest says of another sequence of a batch."""
_DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
_DAMAGE = (
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, SafetensorError, OSError, EOFError, RuntimeError, ValueError,
    LookupError, OverflowError, RecursionError,
)  # fmt: skip


def save(e: Experiment, path: str | os.PathLike[str]) -> None:
    """Write an experiment to a session file, whole or not at all.

    Raises:
        FileError: it cannot be written, or is too large to be read back.
    """
    save_scene(e, path, {})


def load(path: str | os.PathLike[str]) -> Experiment:
    """Return the experiment of a session file, bit for bit as it was saved.

    Raises:
        FileError: the file is not there, not a session, damaged, too large, or of a newer attnlab.
    """
    return load_scene(path)[0]


def save_scene(e: Experiment, path: str | os.PathLike[str], view: Mapping[str, Any]) -> None:
    """Write an experiment together with how it was looked at; ``view`` is plain JSON (title, preset, device, dtype).

    Raises:
        FileError: as :func:`save`.
    """
    tensors = tensor_bytes(_tensors_of(e))
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "tokens": e.tokens,
        "memory_tokens": e.memory_tokens,
        "config": _settings(e.config),
        "sha256": hashlib.sha256(tensors).hexdigest(),
        "view": dict(view),
        **_batch(e),
    }
    text = json.dumps(manifest, ensure_ascii=False, allow_nan=False, indent=1).encode("utf-8", "surrogatepass")
    if len(text) > MANIFEST_LIMIT or len(text) + len(tensors) > TOTAL_LIMIT:
        raise unwritable(path, f"a session may hold {TOTAL_LIMIT >> 20} MiB, of tokens {MANIFEST_LIMIT >> 20} MiB")
    write_bytes(path, _zipped({MANIFEST: text, TENSORS: tensors}))


def load_scene(path: str | os.PathLike[str]) -> tuple[Experiment, dict[str, Any]]:
    """Return the experiment of a session file and how it was looked at, {} if that was not saved.

    Raises:
        FileError: as :func:`load`.
    """
    name = os.fspath(path)
    data = _read(path)
    if not zipfile.is_zipfile(io.BytesIO(data)):
        raise FileError(f"{name} is not an attnlab session, or only a part of one.")
    try:
        text, packed = _unzipped(data)
        manifest = json.loads(text.decode("utf-8", "surrogatepass"), parse_constant=_refuse_constant)
        _check_manifest(manifest, name)
        if hashlib.sha256(packed).hexdigest() != manifest["sha256"]:
            raise FileError(f"{name} is damaged: its numbers do not match their checksum.")
        return _experiment(manifest, read_tensors(packed)), manifest["view"]
    except FileError:
        raise
    except AttnlabError as error:
        raise FileError(f"{name} holds no valid experiment: {error}") from None
    except _DAMAGE as error:
        raise FileError(f"{name} is damaged or not an attnlab session: {why(error)}.") from None


def _settings(config: AttentionConfig) -> dict[str, Any]:
    """Return the configuration as JSON; what is empty is left out, so that older programs read what they know."""
    plain = {name: getattr(config, name) for name in _SETTINGS}
    plain |= {"masks": dict(config.masks), "options": dict(config.options), "ablated": list(config.ablated)}
    newer = ("masks", "options", "ablated")
    return {n: v for n, v in plain.items() if not (n in newer and not v) and (n, v) != ("qk_norm", "none")}


def _batch(e: Experiment) -> dict[str, Any]:
    """Return what the manifest says of the other sequences of a batch; nothing without one."""
    if not e.others:
        return {}
    others = [{name: getattr(other, name) for name in _OF_SAMPLE} for other in e.others]
    return {"others": others, "item": e.item}


def _tensors_of(e: Experiment) -> dict[str, Tensor]:
    given = {"embeddings": e.embeddings, "memory_embeddings": e.memory_embeddings, "mask": e.config.mask}
    given |= {name: getattr(e.weights, name) for name in PROJECTIONS}
    given |= {f"{_EXTRA}{name}": tensor for name, tensor in e.weights.extra.items()}
    for place, other in enumerate(e.others):
        given[f"{_OTHERS}{place}/embeddings"] = other.embeddings
        given[f"{_OTHERS}{place}/memory_embeddings"] = other.memory_embeddings
    # a copy of each, as safetensors refuses tensors that share their memory
    return {name: t.clone(memory_format=torch.contiguous_format) for name, t in given.items() if t is not None}


def _zipped(members: dict[str, bytes]) -> bytes:
    """Return a zip without dates, so that the same experiment is the same file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return buffer.getvalue()


def _read(path: str | os.PathLike[str]) -> bytes:
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            data = file.read(TOTAL_LIMIT + (1 << 16))
    except FileNotFoundError:
        raise FileError(f"There is no file {name}.") from None
    except IsADirectoryError:
        raise FileError(f"{name} is a folder; a session is a file that ends in .attnlab.") from None
    except (OSError, ValueError) as error:
        raise FileError(f"{name} cannot be read: {why(error)}.") from None
    if len(data) > TOTAL_LIMIT + 4096:
        raise FileError(f"{name} is larger than the {TOTAL_LIMIT >> 20} MiB that a session may hold.")
    return data


def _unzipped(data: bytes) -> tuple[bytes, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if sorted(member.filename for member in members) != [MANIFEST, TENSORS]:
            raise ValueError(f"a session holds {MANIFEST} and {TENSORS}, and nothing else")
        if any(member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for member in members):
            raise ValueError("it is compressed in an unknown way")
        if archive.getinfo(MANIFEST).file_size > MANIFEST_LIMIT or sum(m.file_size for m in members) > TOTAL_LIMIT:
            raise ValueError(f"it would unpack to more than the {TOTAL_LIMIT >> 20} MiB that a session may hold")
        return archive.read(MANIFEST), archive.read(TENSORS)


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number that JSON has")


def _check_manifest(manifest: Any, name: str) -> None:
    """Check the kinds of what the manifest holds; what they mean is checked by the experiment itself."""
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise FileError(f"{name} is not an attnlab session: its manifest names another format.")
    version = manifest.get("version")
    if isinstance(version, int) and version > VERSION:
        raise FileError(
            f"{name} was saved by a newer attnlab (version {version} of the format; this reads {VERSION}): update it."
        )
    if version != VERSION:
        raise ValueError(f"its version is {version!r}, not {VERSION}")
    kinds = {"tokens": list, "memory_tokens": list | None, "config": dict, "sha256": str, "view": dict}
    for key, kind in kinds.items():
        if key not in manifest or not isinstance(manifest[key], kind):
            raise ValueError(f"{key} is missing from its manifest or of the wrong kind")
    unknown = set(manifest["config"]) - set(_SETTINGS)
    if unknown:
        raise ValueError(f"it has settings that this attnlab does not know: {', '.join(sorted(unknown))}")
    kinds_of = {"masks": dict, "options": dict, "ablated": list}
    for key, value in manifest["config"].items():
        if not isinstance(value, kinds_of.get(key, str | int | float | None)):
            need = {dict: "names and values", list: "a list"}.get(
                kinds_of.get(key, str), "one text, number or truth value"
            )
            raise ValueError(f"the setting {key} needs to be {need}")
    _check_batch(manifest.get("others", []), manifest.get("item", 0))


def _check_batch(others: Any, item: Any) -> None:
    if not isinstance(others, list) or not all(isinstance(other, dict) for other in others):
        raise ValueError("others, the other sequences of its batch, need to be a list of objects")
    for place, other in enumerate(others):
        unknown = set(other) - set(_OF_SAMPLE)
        if unknown:
            raise ValueError(
                f"others[{place}] has fields that this attnlab does not know: {', '.join(sorted(unknown))}"
            )
        if "tokens" not in other:
            raise ValueError(f"others[{place}] has no tokens")
    if type(item) is not int:
        raise ValueError("item, the place of its sequence in the batch, needs to be a whole number")


def _experiment(manifest: dict[str, Any], tensors: dict[str, Tensor]) -> Experiment:
    others = manifest.get("others", [])
    of_batch = {f"{_OTHERS}{i}/{name}" for i in range(len(others)) for name in ("embeddings", "memory_embeddings")}
    unknown = {name for name in tensors if not name.startswith(_EXTRA)} - _TENSORS - of_batch
    if unknown:
        raise ValueError(f"it has arrays that this attnlab does not know: {', '.join(sorted(unknown))}")
    for name, tensor in tensors.items():
        if name != "mask" and tensor.dtype not in _DTYPES:
            raise ValueError(f"{name} is {str(tensor.dtype).removeprefix('torch.')}, not a number format of attnlab")
    needed = ("embeddings", *(f"{_OTHERS}{i}/embeddings" for i in range(len(others))))
    for name in needed:
        if name not in tensors:
            raise ValueError(f"{name} is missing from its arrays")
    extra = {name.removeprefix(_EXTRA): tensor for name, tensor in tensors.items() if name.startswith(_EXTRA)}
    return Experiment(
        tokens=manifest["tokens"],
        embeddings=tensors["embeddings"],
        weights=Weights(**{name: tensors.get(name) for name in PROJECTIONS}, extra=extra),
        config=AttentionConfig(**manifest["config"], mask=tensors.get("mask")),
        memory_tokens=manifest["memory_tokens"],
        memory_embeddings=tensors.get("memory_embeddings"),
        others=[_sample(other, place, tensors) for place, other in enumerate(others)],
        item=manifest.get("item", 0),
    )


def _sample(other: dict[str, Any], place: int, tensors: dict[str, Tensor]) -> Sample:
    embeddings, memory = (tensors.get(f"{_OTHERS}{place}/{name}") for name in ("embeddings", "memory_embeddings"))
    assert embeddings is not None  # checked before
    try:
        return Sample(embeddings=embeddings, memory_embeddings=memory, **other)
    except ExperimentError as error:
        raise ExperimentError(f"others[{place}].{error}") from None
