"""Every file of the user is opened by ``files/bounded.py``, which refuses pipes and devices."""

import ast
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import attnlab
from attnlab.base.errors import AttnlabError
from attnlab.document.settings import load_settings
from attnlab.files.sessions.session_file import load_scene, read_view
from attnlab.files.source import load_source
from attnlab.files.weights.arrays_in import ENDINGS, read_arrays
from attnlab.files.weights.head_counts import heads_beside
from attnlab.files.weights.projection_layouts import UNKNOWN
from attnlab.lessons.exercise import read_exercise
from attnlab.lessons.grading import read_answer_file
from attnlab.lessons.parse import read as read_lesson
from attnlab.training import store
from attnlab.training.tasks import texts
from tests.training.runs import made_up_run

SOURCE = Path(attnlab.__file__).parent
OPENS = {
    "open", "io.open", "os.open", "codecs.open", "gzip.open", "bz2.open", "lzma.open", "tarfile.open", "mmap.mmap",
    "zipfile.ZipFile", "ZipFile", "np.load", "np.loadtxt", "np.genfromtxt", "np.fromfile", "np.memmap", "torch.load",
    "torch.from_file", "json.load", "pickle.load", "yaml.load", "tomllib.load", "safe_open", "load_file", "QFile",
    "QImage.load", "QSettings", "shutil.copy", "shutil.copyfile", "shutil.copy2", "shutil.move", "os.fdopen",
}  # fmt: skip
METHODS = {"read_text", "read_bytes", "readinto_file"}
"""Of paths; ``path.open(mode)`` is told from the ``open`` of a dialog by its mode."""
NAMES = METHODS | {name.rpartition(".")[2] for name in OPENS}

JUSTIFIED = {
    "files/bounded.py: open": "the one reader",
    "files/bounded.py: os.open": "the one reader",
    "files/atomic.py: open": "a new file is written",
    "files/atomic.py: os.open": "a new file is written, and a folder flushed",
    "files/sessions/session_archive.py: zipfile.ZipFile": "of a buffer, or of what open_file gave",
    "files/weights/numpy_in.py: zipfile.ZipFile": "of what open_file gave",
    "files/weights/state_dict_in.py: zipfile.ZipFile": "of what open_file gave",
    "files/weights/state_dict_in.py: torch.load": "it maps a file by its path, which _is_zip has just opened",
    "files/weights/arrays_in.py: safe_open": "it maps a file by its path, which open_file opened just before",
    "files/weights/text_in.py: np.loadtxt": "of lines, not of a file",
    "base/assets.py: .read_bytes": "attnlab's own resources",
    "base/assets.py: .read_text": "attnlab's own resources",
    "lessons/lenses.py: .read_text": "attnlab's own modules",
    "base/console.py: os.open": "the null device is written to",
    "base/console.py: open": "the null device is written to",
    "bench/memory.py: open": "what Linux says of this process",
    "pretrained/free_memory.py: open": "what Linux says of the memory",
    "base/crash_log.py: .open": "attnlab's own log is written to",
    "base/fault_log.py: .open": "attnlab's own log is written to",
    "ui/app/help_texts.py: .read_bytes": "attnlab's own log, whose size is limited",
    "files/sessions/unsaved.py: .open": "a new file is written",
    "ui/app/window_place.py: QSettings": "where the window stood, in attnlab's own folder",
    "figures/films/film_file.py: .read_bytes": "what ffmpeg wrote into a folder made for it",
}


def opened() -> Iterator[tuple[str, str]]:
    for path in sorted(SOURCE.rglob("*.py")):
        where = path.relative_to(SOURCE).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and (name := opening(node)):
                yield f"{where}: {name}", f"{where}:{node.lineno}"


def opening(call: ast.Call) -> str:
    """Return the function with which a call opens a file, "" for other calls."""
    if getattr(call.func, "attr", getattr(call.func, "id", "")) not in NAMES:
        return ""
    name = ast.unparse(call.func)
    if name in OPENS:
        return name
    if not isinstance(call.func, ast.Attribute):
        return ""
    owner = ast.unparse(call.func.value)
    if call.func.attr in METHODS and owner != "assets":
        return f".{call.func.attr}"
    modes = [arg.value for arg in (*call.args, *(k.value for k in call.keywords)) if isinstance(arg, ast.Constant)]
    is_mode = any(isinstance(mode, str) and re.fullmatch("[rwxabt+]{1,3}", mode) for mode in modes)
    return ".open" if call.func.attr == "open" and (is_mode or owner.startswith("Path(")) else ""


@pytest.mark.slow
def test_only_bounded_py_opens_files() -> None:
    found = dict(opened())
    strange = {place: name for name, place in found.items() if name not in JUSTIFIED}
    assert strange == {}, "files.bounded opens files; what else does needs a reason here"
    assert set(JUSTIFIED) <= set(found), "these reasons are about nothing any more"


def lesson_with_a_file(path: Path) -> None:
    pytest.importorskip("PySide6")
    from attnlab.lessons.parse import parse
    from attnlab.ui.lessons.draft import carry_files

    lesson = replace(
        parse("---\ntitle: A\n---\n## A\n```state\nfile: x.attnlab\n```\n", "a"), path=path.parent / "a.md"
    )
    shutil.move(path, path.parent / "x.attnlab")
    (path.parent / "to").mkdir()
    carry_files(lesson, path.parent / "to" / "a.md")


def run_with(name: str) -> Callable[[Path], object]:
    def read(path: Path) -> object:
        folder = path.parent / "run"
        store.save(made_up_run().state(), folder)
        (part,) = folder.glob(f"{name}*")
        part.unlink()
        shutil.move(path, part)
        said = store.read_summary(folder).problem if name == "run" else ""
        store.load(folder)
        return said

    return read


def settings(path: Path) -> None:
    settings, said = load_settings(path)
    assert settings == type(settings)()
    raise AttnlabError(said[0])


READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "a session": ("x.attnlab", load_scene),
    "a session of the command line": ("x.attnlab", lambda path: load_source(str(path))),
    "an exercise": ("x.json", read_exercise),
    "answers": ("x.csv", read_answer_file),
    "a lesson": ("x.md", read_lesson),
    "a session beside a lesson": ("x.attnlab", lesson_with_a_file),
    "settings": ("settings.json", settings),
    "a text to learn from": ("x.txt", lambda path: texts.read(str(path))),
    **{f"weights{ending}": (f"x{ending}", read_arrays) for ending in ENDINGS},
    **{f"a run's {name}": ("x", run_with(name)) for name in ("run", "curve", "moments", "checkpoint")},
}


def made(path: Path, what: str) -> None:
    if what == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(f"/dev/{what}")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
@pytest.mark.parametrize("what", ["pipe", "zero", "tty", "null"])
@pytest.mark.parametrize("kind", READERS)
def test_a_pipe_or_a_device_is_refused_at_once(kind: str, what: str, tmp_path: Path) -> None:
    name, read = READERS[kind]
    made(tmp_path / name, what)
    with pytest.raises(AttnlabError, match="is a pipe or a device") as refused:
        read(tmp_path / name)
    assert str(refused.value).isprintable()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
@pytest.mark.parametrize("what", ["pipe", "zero"])
def test_companion_paths_that_are_not_files_are_ignored(what: str, tmp_path: Path) -> None:
    made(tmp_path / "config.json", what)
    assert heads_beside(tmp_path / "x.safetensors") == UNKNOWN
    made(tmp_path / "x.attnlab", what)
    assert read_view(tmp_path / "x.attnlab") == {}


def test_a_config_larger_than_a_megabyte_is_ignored(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text('{"n_head": 3}')
    assert heads_beside(tmp_path / "x.npz").n_heads == 3
    config.write_text('{"n_head": 3}' + " " * (1 << 20))
    assert heads_beside(tmp_path / "x.npz") == UNKNOWN
    config.write_text("[" * 100_000)
    assert heads_beside(tmp_path / "x.npz") == UNKNOWN


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_file_that_turns_into_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    import numpy as np
    import torch
    from safetensors.torch import save_file

    arrays = {"W_q": np.ones((2, 2), np.float32)}
    np.save(tmp_path / "x.npy", arrays["W_q"])
    np.savez(tmp_path / "x.npz", **arrays)
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    save_file(tensors, tmp_path / "x.safetensors")
    torch.save(tensors, tmp_path / "x.pt")
    for path in sorted(tmp_path.iterdir()):
        (array,) = read_arrays(path).values()
        path.unlink()
        os.mkfifo(path)
        with pytest.raises(AttnlabError):
            array.tensor()
