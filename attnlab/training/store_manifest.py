"""The contents of ``run.json`` as plain values, and their validation."""

import math
import re
import sys
from typing import Any

from attnlab.base.printable import escape
from attnlab.training.heads_off import read_heads
from attnlab.training.run import STATUSES, RunState
from attnlab.training.spec_json import MOST, to_json

FORMAT, VERSION = "attnlab run", 2
MANIFEST, CURVE, MOMENTS, CHECKPOINT = "run.json", "curve", "moments", "checkpoint"
"""The parts of a run. run.json names the files of the others, such as curve-0123456789abcdef.safetensors."""
PARTS = (CURVE, MOMENTS, CHECKPOINT)
_ENDING = ".safetensors"
_NAME = re.compile(r"(curve|moments|checkpoint)(?:-([0-9a-f]{16}))?\.safetensors")
_LONGEST = 2000
_OPTIONAL = {"digest", "heads_before"}
"""Only runs that learn from the user's own text have a digest, and only those that went on with other heads off have
heads before.
"""
_DIGEST = re.compile("[0-9a-f]{64}")
_FIELDS = {
    "format",
    "version",
    "name",
    "spec",
    "status",
    "sentence",
    "step",
    "seconds",
    "parameters",
    "trainable",
    "device",
    "interval",
    "loss",
    "right",
    "marks",
    "files",
}


def name_file(part: str, save: str = "") -> str:
    """Return the file name of a part; ``save`` is 16 hexadecimal digits, or "" in runs of version 1."""
    return f"{part}-{save}{_ENDING}" if save else part + _ENDING


def is_part(name: str) -> bool:
    """Return whether a file with this name is a part of a run."""
    return _NAME.fullmatch(name) is not None


def to_manifest(state: RunState, names: dict[str, str]) -> dict[str, Any]:
    """Return the contents of ``run.json``; ``names`` are the file names of the parts."""
    last = state.metrics[-1] if state.metrics else None
    loss = last.loss if last else math.nan
    right = last.right if last else math.nan
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": state.name,
        "spec": to_json(state.spec),
        "status": state.status,
        "sentence": state.sentence,
        "step": state.step,
        "seconds": state.seconds,
        "parameters": state.parameters,
        "trainable": state.trainable,
        "device": state.device,
        "interval": state.interval,
        "loss": loss if math.isfinite(loss) else None,
        "right": right if math.isfinite(right) else None,
        "marks": [[mark.step, mark.title, mark.suggested] for mark in state.marks],
        "files": names,
        **({"digest": state.digest} if state.digest else {}),
        **({"heads_before": state.heads_before} if state.heads_before else {}),
    }


def check_manifest(found: Any) -> None:
    """Check the contents of a ``run.json``, and convert those of version 1 to the present version.

    Raises:
        ValueError: a field is missing or wrong; names it.
    """
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ValueError(f"it is not an {FORMAT}")
    version = found.get("version")
    if type(version) is int and version > VERSION:
        raise ValueError(f"it was written by a newer attnlab (version {version} of its format)")
    if version not in (1, VERSION) or type(version) is not int or found.keys() - _OPTIONAL != _FIELDS:
        raise ValueError("it does not have the fields of a run")
    for name in ("step", "parameters", "trainable"):
        _need(_is_whole(found[name]), name, "a whole number of 0 or more")
    _need(_is_whole(found["interval"]) and found["interval"] > 0, "interval", "a whole number above 0")
    _need(_is_number(found["seconds"]) and found["seconds"] >= 0, "seconds", "a number of 0 or more")
    for name in ("loss", "right"):
        _need(found[name] is None or _is_number(found[name], sys.float_info.max), name, "a number or null")
    for name in ("name", "sentence", "device"):
        _need(_is_text(found[name]), name, f"text of at most {_LONGEST:,} letters")
    for name in ("name", "sentence", "device"):  # these are shown, and the file may be a stranger's
        found[name] = escape(found[name])
    digest = found.get("digest", "")
    _need(isinstance(digest, str) and (not digest or _DIGEST.fullmatch(digest) is not None), "digest", "a SHA-256")
    before = found.get("heads_before", [])
    _need(isinstance(before, list) and all(map(_is_heads_off, before)), "heads_before", "steps with heads")
    _need(found["status"] in STATUSES, "status", f"one of {', '.join(STATUSES)}")
    _need(isinstance(found["marks"], list) and all(map(_is_mark, found["marks"])), "marks", "steps with titles")
    if version == 1:  # its files field had sizes by name
        found["files"] = {part: name for part in PARTS if (name := name_file(part)) in _check_old(found["files"])}
    else:
        _check_files(found["files"])


def _check_old(files: Any) -> dict[str, Any]:
    names = [name_file(part) for part in PARTS]
    wanted = f"{names[0]} and at most {names[1]} and {names[2]}"
    _need(isinstance(files, dict) and names[0] in files and files.keys() <= set(names), "files", wanted)
    return dict(files)


def _check_files(files: Any) -> None:
    """Check that the files belong to one save and are in the folder of the run."""
    right = isinstance(files, dict) and CURVE in files and files.keys() <= set(PARTS)
    found = [_NAME.fullmatch(name) if isinstance(name, str) else None for name in files.values()] if right else []
    right = right and all(each is not None and each[1] == part for part, each in zip(files, found, strict=True))
    right = right and len({each[2] for each in found if each}) == 1
    _need(right, "files", f"the names of one save for {CURVE} and at most {MOMENTS} and {CHECKPOINT}")


def _need(right: bool, name: str, needed: str) -> None:
    if not right:
        raise ValueError(f"its {name} needs to be {needed}")


def _is_whole(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MOST


def _is_number(value: Any, most: float = MOST) -> bool:
    return type(value) in (int, float) and abs(value) <= most


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST


def _is_heads_off(value: Any) -> bool:
    if not isinstance(value, list) or len(value) != 2 or not _is_whole(value[0]) or not _is_text(value[1]):
        return False
    try:
        read_heads(value[1])
    except ValueError:
        return False
    return True


def _is_mark(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 3
        and _is_whole(value[0])
        and _is_text(value[1])
        and isinstance(value[2], bool)
    )
