"""Names from files and command lines contain no control characters when they are printed."""

import io
import os
import sys
from pathlib import Path

import pytest

from attnlab.base import console
from attnlab.base.errors import LONGEST, AttnlabError, ExperimentError, FileError
from attnlab.base.printable import escape, shorten
from attnlab.cli.main import main
from attnlab.files.atomic import format_name
from attnlab.files.bounded import read_bytes
from attnlab.files.source import Source, check_source

HOSTILE = "a\x1b[2J\x9b31m\u202egnp.\x07b\u2066\r\x00"
SPELT = r"a\x1b[2J\x9b31m\u202egnp.\x07b\u2066\r\x00"


def test_control_characters_are_escaped_and_other_text_is_kept() -> None:
    assert escape(HOSTILE) == format_name(HOSTILE) == SPELT
    assert escape("né 漢 👩\u200d👧 \u200fשלום") == "né 漢 👩\u200d👧 \u200fשלום"
    assert escape("a\nb\x1b", keep="\n") == "a\nb\\x1b"
    assert escape("\udc80") == r"\udc80"


@pytest.mark.parametrize("kind", [AttnlabError, FileError, ExperimentError])
def test_errors_contain_no_control_characters(kind: type[AttnlabError]) -> None:
    assert str(kind(f"There is no {HOSTILE}.")) == f"There is no {SPELT}."


def test_file_names_are_printed_without_control_characters(tmp_path: Path) -> None:
    name = HOSTILE.replace("\x00", "")
    for read in (lambda: read_bytes(tmp_path / name, 9, "it"), lambda: check_source(Source(tmp_path / name))):
        with pytest.raises(FileError) as refused:
            read()
        assert str(refused.value).isprintable()
        assert r"\x1b[2J" in str(refused.value)


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_results_are_escaped_on_a_terminal_and_unchanged_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream, text in ((Terminal(), f"1\t2\n{SPELT}"), (io.StringIO(), f"1\t2\n{HOSTILE}")):
        monkeypatch.setattr(sys, "stdout", stream)
        console.say(f"1\t2\n{HOSTILE}")
        assert stream.getvalue() == text


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such names")
@pytest.mark.parametrize("what", ["missing", "pipe", "zero", "folder", "link to nowhere", "no rights", "text"])
@pytest.mark.parametrize(
    "command",
    [
        ["show", "{}"],
        ["code", "{}"],
        ["export", "{}", "-o", "out.png"],
        ["lesson", "./{}", "--check"],
        ["lesson", "./{}", "--pdf", "out.pdf"],
        ["train", "--resume", "{}"],
        ["train", "characters", "--set", "text={}", "--steps", "1"],
        ["--screenshot", "out.png", "{}"],
        ["export", "preset:journey", "-o", "{}/out.png"],
    ],
    ids=" ".join,
)
def test_hostile_names_are_refused_in_one_line(
    command: list[str], what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    name = "x\x1b[2J\u202e.attnlab" if "lesson" not in command else "x\x1b[2J\u202e.md"
    if what == "pipe":
        os.mkfifo(name)
    elif what == "zero":
        os.symlink("/dev/zero", name)
    elif what == "folder":
        os.mkdir(name)
    elif what == "link to nowhere":
        os.symlink("nowhere", name)
    elif what in ("no rights", "text"):
        Path(name).write_text("\x1b[2J")
        if what == "no rights":
            os.chmod(name, 0)
    before = sorted(os.listdir())
    if what == "folder" and command[0] == "export" and command[1].startswith("preset:"):
        return  # an ordinary folder to write to
    code = main([part.replace("{}", name) for part in command])
    said = capsys.readouterr()
    if "lesson" in command and what in ("no rights", "text"):  # root may read it, and what is wrong in it is a list
        assert code == 2
        assert (said.out + said.err).replace("\n", "").isprintable()
        return
    assert (code, said.out) == (2, "")
    assert said.err.startswith("attnlab: ")
    assert said.err.count("\n") == 1
    assert said.err.rstrip("\n").isprintable()
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize("letter", ["x", "\x1b"])
def test_errors_are_at_most_a_screen_long(letter: str) -> None:
    told = str(FileError(f"There is no {letter * 100_000} here; there are others."))
    assert len(told) == LONGEST
    assert told.startswith("There is no ")
    assert told.endswith(" here; there are others.")


@pytest.mark.parametrize(
    ("text", "limit", "short"), [("abcdef", 6, "abcdef"), ("abcdefg", 6, "abc…fg"), ("abc", 2, "a…")]
)
def test_a_long_text_is_shortened_in_the_middle(text: str, limit: int, short: str) -> None:
    assert shorten(text, limit) == short
