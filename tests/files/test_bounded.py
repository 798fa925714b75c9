"""Files are read within their size limits; a pipe is refused at once."""

import os
from pathlib import Path

import pytest

from attnlab.base.errors import FileError
from attnlab.files.bounded import read_bytes
from attnlab.lessons.exercise import read_exercise
from attnlab.lessons.grading import read_answer_file


def test_a_file_above_its_size_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(1 << 20))
    assert len(read_bytes(path, 1 << 20, "an exercise")) == 1 << 20
    path.write_bytes(bytes((1 << 20) + 1))
    with pytest.raises(FileError, match="is larger than the 1 MiB that an exercise may have"):
        read_bytes(path, 1 << 20, "an exercise")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    for read in (read_exercise, read_answer_file):
        with pytest.raises(FileError, match=r"pipe\.json cannot be read: it is a pipe or a device, not a file\.$"):
            read(tmp_path / "pipe.json")
