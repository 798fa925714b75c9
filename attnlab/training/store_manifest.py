"""What ``run.json`` says of a run as plain values, and the check of what a stranger's says."""

import math
import re
from typing import Any

from attnlab.training.run import STATUSES, RunState
from attnlab.training.spec_json import MOST, as_json

FORMAT, VERSION = "attnlab run", 1
MANIFEST, CURVE, MOMENTS, CHECKPOINT = "run.json", "curve.safetensors", "moments.safetensors", "checkpoint.safetensors"
"""The files of a run."""
_LONGEST = 2000
_OPTIONAL = {"digest"}
"""Of a person's own text; runs without have none."""
_DIGEST = re.compile("[0-9a-f]{64}")
_FIELDS = {
    "format", "version", "name", "spec", "status", "sentence", "step", "seconds", "parameters", "trainable", "device",
    "interval", "loss", "right", "marks", "files",
}  # fmt: skip


def manifest(state: RunState, sizes: dict[str, int]) -> dict[str, Any]:
    last = state.metrics[-1] if state.metrics else None
    loss = last.loss if last else math.nan
    right = last.right if last else math.nan
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": state.name,
        "spec": as_json(state.spec),
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
        "files": sizes,
        **({"digest": state.digest} if state.digest else {}),
    }


def check_manifest(found: Any) -> None:
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ValueError(f"it is no {FORMAT}")
    version = found.get("version")
    if type(version) is int and version > VERSION:
        raise ValueError(f"it was written by a newer attnlab (version {version} of its format)")
    if version != VERSION or found.keys() - _OPTIONAL != _FIELDS:
        raise ValueError("it does not have the fields of a run")
    for name in ("step", "parameters", "trainable"):
        _need(_whole(found[name]), name, "a whole number of 0 or more")
    _need(_whole(found["interval"]) and found["interval"] > 0, "interval", "a whole number above 0")
    _need(_number(found["seconds"]) and found["seconds"] >= 0, "seconds", "a number of 0 or more")
    for name in ("loss", "right"):
        _need(found[name] is None or _number(found[name]), name, "a number or null")
    for name in ("name", "sentence", "device"):
        _need(_text(found[name]), name, f"text of at most {_LONGEST:,} letters")
    digest = found.get("digest", "")
    _need(isinstance(digest, str) and (not digest or _DIGEST.fullmatch(digest) is not None), "digest", "a SHA-256")
    _need(found["status"] in STATUSES, "status", f"one of {', '.join(STATUSES)}")
    _need(isinstance(found["marks"], list) and all(map(_is_mark, found["marks"])), "marks", "steps with titles")
    files = found["files"]
    _need(
        isinstance(files, dict) and CURVE in files and files.keys() <= {CURVE, MOMENTS, CHECKPOINT},
        "files",
        f"{CURVE} and at most {MOMENTS} and {CHECKPOINT}",
    )


def _need(right: bool, name: str, needed: str) -> None:
    if not right:
        raise ValueError(f"its {name} needs to be {needed}")


def _whole(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MOST


def _number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= MOST


def _text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST


def _is_mark(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 3
        and _whole(value[0])
        and _text(value[1])
        and isinstance(value[2], bool)
    )
