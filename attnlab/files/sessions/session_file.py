"""Session files (.attnlab): a zip of a JSON manifest, a safetensors file and their checksums, never pickle."""

import json
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import IO, Any

from safetensors import SafetensorError
from safetensors.torch import save as packed_arrays

from attnlab import __version__
from attnlab.attention.experiment import Experiment
from attnlab.base.arguments import check_path, explain_calls
from attnlab.base.errors import ArgumentError, AttnlabError, FileError
from attnlab.files.atomic import format_name, format_reason, make_read_error, make_write_error, write_bytes
from attnlab.files.bounded import open_file
from attnlab.files.sessions.session_archive import (
    MANIFEST,
    MANIFEST_LIMIT,
    SUMS,
    SUMS_LIMIT,
    TENSORS,
    TOTAL_LIMIT,
    Archive,
    check_sums,
    pack,
)
from attnlab.files.sessions.session_arrays import check_header, read_arrays
from attnlab.files.sessions.session_experiment import experiments_from_json, experiments_to_json
from attnlab.files.sessions.session_json import check_structure, check_view, parse
from attnlab.files.sessions.session_migrations import VERSION, migrate

FORMAT = "attnlab"
MOST_PINS = 100
"""The maximum number of pinned experiments in a session."""

_LISTED_LIMIT = 1 << 20  # in bytes; reading a larger manifest would delay a list of sessions
_SIZE = f"{TOTAL_LIMIT >> 20} MiB"
_DAMAGE = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    struct.error,
    SafetensorError,
    EOFError,
    RuntimeError,
    ValueError,
    LookupError,
    OverflowError,
    RecursionError,
)
_START = re.compile(rb"PK\x03\x04.{26}" + re.escape(MANIFEST.encode()), re.DOTALL)  # the start of every session
_NO_END = "File is not a zip file"  # zipfile's error if the table at the end is missing


@dataclass(frozen=True, slots=True, eq=False)
class Session:
    """Everything that is needed to restore the state of the window.

    ``view`` is plain JSON with any keys: title, preset, device and dtype, and the window's saved view; unknown keys are
    preserved. ``pins`` are experiments besides the open one, in an order that ``view`` may refer to.
    """

    experiment: Experiment
    view: Mapping[str, Any] = field(default_factory=dict)
    pins: Sequence[Experiment] = ()


@explain_calls
def save(e: Experiment, path: str | os.PathLike[str]) -> None:
    """Write an experiment to a session file, atomically.

    Raises:
        FileError: it cannot be written, or is too large to be read back.
        ArgumentError: ``e`` is not an Experiment.
    """
    if not isinstance(e, Experiment):
        raise ArgumentError(f"save was given {type(e).__name__}; it needs an attnlab.Experiment.")
    check_path(path)
    save_session(Session(e), path)


@explain_calls
def load(path: str | os.PathLike[str]) -> Experiment:
    """Return the experiment in a session file, bit for bit as it was saved.

    Raises:
        FileError: the file is missing, not a session, damaged, too large, or from a newer attnlab.
    """
    check_path(path)
    return load_session(path).experiment


def save_scene(e: Experiment, path: str | os.PathLike[str], view: Mapping[str, Any]) -> None:
    """Write an experiment with its view; ``view`` is as in :class:`Session`.

    Raises:
        FileError: as :func:`save_session`.
    """
    save_session(Session(e, view), path)


def load_scene(path: str | os.PathLike[str]) -> tuple[Experiment, dict[str, Any]]:
    """Return the experiment in a session file and its view, {} if that was not saved.

    Raises:
        FileError: as :func:`load`.
    """
    session = load_session(path)
    return session.experiment, dict(session.view)


def save_session(session: Session, path: str | os.PathLike[str]) -> None:
    """Write a session atomically: to a temporary file in the same folder, flushed, then renamed.

    Raises:
        FileError: it cannot be written, its view is not plain JSON, or it is too large to be read back.
    """
    try:
        write_bytes(path, _pack_session(session))
    except ValueError as error:
        raise make_write_error(path, error) from None


def load_session(path: str | os.PathLike[str]) -> Session:
    """Return everything in a session file, including files of every older attnlab.

    Raises:
        FileError: as :func:`load`; one sentence that names the file and the problem.
    """
    name = format_name(path)
    with _open(path, name) as file:
        try:
            return _read(file, name)
        except FileError:
            raise
        except AttnlabError as error:
            raise FileError(f"{name} does not contain a valid experiment: {error}") from None
        except OSError as error:
            raise make_read_error(path, error) from None
        except MemoryError:
            raise FileError(f"{name} needs more memory than this machine has.") from None
        except _DAMAGE as error:
            if isinstance(error, RuntimeError) and "alloc" in str(error):  # torch's error for too little memory
                raise FileError(f"{name} needs more memory than this machine has.") from None
            raise FileError(f"{name} is damaged or not an attnlab session: {format_reason(error)}.") from None


def read_view(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the view saved in a session, for a list of sessions, from its manifest alone.

    Empty if the file cannot be read, is not a session that this attnlab can read, or has a large manifest.
    """
    try:
        with _open(path, format_name(path)) as file:
            manifest = parse(Archive(file).read(MANIFEST, at_most=_LISTED_LIMIT))
        view = migrate(manifest)["view"] if _version(manifest, format_name(path)) else {}
    except (AttnlabError, OSError, MemoryError, *_DAMAGE):
        return {}
    return view if isinstance(view, dict) else {}


def _pack_session(session: Session) -> bytes:
    view = dict(session.view)
    check_view(view)
    if len(session.pins) > MOST_PINS:
        raise ValueError(f"{len(session.pins)} states are pinned; the maximum in a session is {MOST_PINS}")
    plain, arrays = experiments_to_json([session.experiment, *session.pins])
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "attnlab": __version__,
        "experiment": plain[0],
        "pins": plain[1:],
        "view": view,
    }
    text = json.dumps(manifest, ensure_ascii=False, allow_nan=False, indent=1).encode("utf-8", "surrogatepass")
    check_structure(text)
    _check_size(text, sum(array.nbytes for array in arrays.values()))
    tensors = packed_arrays(arrays)
    check_header(tensors)
    _check_size(text, len(tensors))
    return pack({MANIFEST: text, TENSORS: tensors})


def _check_size(manifest: bytes, of_arrays: int) -> None:
    if len(manifest) > MANIFEST_LIMIT or len(manifest) + of_arrays > TOTAL_LIMIT - SUMS_LIMIT:
        raise ValueError(
            f"it is too large: a session holds at most {_SIZE}, of which tokens may take {MANIFEST_LIMIT >> 20} MiB"
        )


def _open(path: str | os.PathLike[str], name: str) -> IO[bytes]:
    """Open a session file for reading; refuse one that is missing, no regular file, or too large."""
    most = TOTAL_LIMIT + (1 << 16)
    try:
        file = open_file(path)
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
    except IsADirectoryError:
        raise FileError(f"{name} is a folder; a session is a file that ends in .attnlab.") from None
    except (OSError, ValueError) as error:
        raise make_read_error(path, error) from None
    if size > most:
        file.close()
        raise FileError(f"{name} is larger than the {_SIZE} that a session may hold.")
    return file


def _read(file: IO[bytes], name: str) -> Session:
    ours = _START.match(file.read(64))
    try:
        archive = Archive(file)
    except zipfile.BadZipFile as error:
        if not ours:
            also = "or only a part of one" if name.endswith(".attnlab") else "which ends in .attnlab"
            raise FileError(f"{name} is not an attnlab session, {also}.") from None
        reason = "its end is missing" if str(error) == _NO_END else format_reason(error)
        raise FileError(f"{name} is damaged: {reason}.") from None
    text = archive.read(MANIFEST)
    manifest = parse(text)
    version = _version(manifest, name)
    members = {MANIFEST: text, TENSORS: b""}
    archive.check_names(frozenset(members if version == 1 else {*members, SUMS}))
    members[TENSORS] = archive.read(TENSORS)
    _check_sums(archive, members, manifest, name)
    return _session(migrate(manifest), members[TENSORS])


def _version(manifest: Any, name: str) -> int:
    """Return the version of the format, which is read before anything else in the file."""
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise FileError(f"{name} is not an attnlab session: its manifest names another format.")
    version, writer = manifest.get("version"), manifest.get("attnlab")
    if type(version) is not int or not 0 < version < 10_000:
        raise ValueError(f"its version is {format_name(repr(version)[:40])}, not a positive whole number")
    if version > VERSION:
        named = isinstance(writer, str) and re.fullmatch(r"\d{1,4}(\.\d{1,4}){1,3}\w{0,8}", writer, re.ASCII)
        needs = f"attnlab {writer}, which saved it, or newer" if named else "a newer one"
        raise FileError(
            f"{name} was saved by a newer attnlab (version {version} of the format; this is attnlab {__version__} and "
            f"reads up to {VERSION}): it needs {needs}."
        )
    return version


def _check_sums(archive: Archive, members: Mapping[str, bytes], manifest: Mapping[str, Any], name: str) -> None:
    if manifest["version"] == 1:  # this version had a checksum of the arrays only
        wrong = TENSORS if sha256(members[TENSORS]).hexdigest() != manifest.get("sha256") else ""
    else:
        wrong = check_sums(archive.read(SUMS), members)
    if wrong:
        raise FileError(f"{name} is damaged: {wrong} in it does not match its checksum.")


def _session(manifest: Mapping[str, Any], packed: bytes) -> Session:
    """Return the session of a manifest of the present version."""
    for key, kind in (("experiment", dict), ("pins", list), ("view", dict)):
        if not isinstance(manifest.get(key), kind):
            raise ValueError(f"{key} is missing from its manifest or has the wrong type")
    view, pins = manifest["view"], manifest["pins"]
    if len(pins) > MOST_PINS:
        raise ValueError(f"it has {len(pins):,} pins; the maximum is {MOST_PINS}")
    check_view(view)
    first, *others = experiments_from_json([manifest["experiment"], *pins], read_arrays(packed))
    return Session(first, view, tuple(others))
