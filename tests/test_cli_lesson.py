"""``attnlab lesson`` lists, checks, prints and opens lessons, and reports errors in one sentence."""

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from attnlab.cli.main import main
from attnlab.lessons.lenses import LENSES, LensEntry
from attnlab.lessons.library import find, list_shipped
from attnlab.ui.playground import lenses
from attnlab.ui.playground.lenses import positions_lens
from attnlab.ui.playground.lenses.lens import Lens
from tests.nursery import run_python

LESSON = """\
---
title: My own
---

## One

```state
preset: journey
stage: weights
```

It has {{T}} words.

## Two

```state
edits:
  - causal: true
```
"""


@pytest.fixture
def lesson(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of a lesson of two steps, which is also in the user's folder."""
    monkeypatch.setenv("ATTNLAB_CONFIG_DIR", str(tmp_path))
    (tmp_path / "lessons").mkdir()
    path = tmp_path / "lessons" / "mine.md"
    path.write_text(LESSON, encoding="utf-8")
    return path


def test_lessons_are_listed_in_teaching_order_with_their_topics(
    lesson: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lesson", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [*list_shipped(), "mine"]
    assert lines[0].endswith(find(list_shipped()[0]).about)
    assert lines[-1].endswith("My own")


@pytest.mark.parametrize("name", ["mine", None, list_shipped()[0]], ids=["by name", "by file", "one that ships"])
def test_a_valid_lesson_passes_the_check(name: str | None, lesson: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lesson", name or str(lesson), "--check"]) == 0
    assert re.fullmatch(r"[^\n]+: \d+ steps, nothing wrong\.\n", capsys.readouterr().out)


def test_control_characters_of_a_lesson_are_escaped(lesson: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = LESSON.replace("title: My own", 'title: "a\\e]0;b\\a"\nabout: "one\\ntwo \\e[31m \\u202e"')
    lesson.write_text(text.replace("{{T}}", "{{\x1b[2J}}"), encoding="utf-8")
    assert main(["lesson", "--list"]) == 0
    assert main(["lesson", str(lesson), "--check"]) == 2
    said = capsys.readouterr().out
    assert all(line.isprintable() for line in said.split("\n"))
    assert "one two \\x1b[31m \\u202e\n" in said
    assert f"{lesson}:13: {{{{\\x1b[2J}}}} cannot be filled" in said


def test_each_mistake_is_printed_with_file_and_line_and_the_code_is_2(
    lesson: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lesson.write_text(LESSON.replace("{{T}}", "{{TT}}").replace("causal", "casual"), encoding="utf-8")
    assert main(["lesson", str(lesson), "--check"]) == 2
    captured = capsys.readouterr()
    first, second = captured.out.splitlines()
    assert first.startswith(f"{lesson}:12: {{{{TT}}}} cannot be filled: there is no 'TT' here; did you mean T")
    assert second.startswith(f"{lesson}:18: There is nothing called 'casual' to edit; did you mean causal?")
    assert captured.err == ""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "The NAME or FILE of a lesson is missing"),
        (["--list", "mine"], "--list takes no lesson"),
        (["hedas"], "There is no lesson 'hedas'; did you mean heads?"),
        (["hedas", "--check"], "There is no lesson 'hedas'; did you mean heads?"),
        (["hedas", "--pdf", "out.pdf"], "There is no lesson 'hedas'; did you mean heads?"),
        (["nowhere.md", "--check"], "There is no file"),
        (["mine", "--step", "3"], "mine has no step 3; it has steps 1 to 2."),
        (["mine", "--step", "0"], "'0' is not a step"),
        (["mine", "--step", "two"], "'two' is not a step"),
        (["mine", "--check", "--step", "1"], "not allowed with"),
        (["mine", "--pdf", "out.png"], "needs to end in .pdf"),
        (["mine", "--pdf", "/nowhere/at/all/out.pdf"], "there is no folder"),
        (["mine", "--frobnicate"], "--frobnicate"),
    ],
    ids=str,
)
def test_every_misuse_is_one_sentence_and_exit_code_2(
    arguments: list[str],
    sentence: str,
    lesson: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["lesson", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert sentence in captured.err
    assert re.fullmatch(r"attnlab: [^\n]+\n", captured.err)


@pytest.mark.slow
def test_listing_and_checking_lessons_loads_no_window(lesson: Path) -> None:
    code = (
        "import sys, attnlab.cli.main as c; code = c.main(['lesson', 'mine', '--check']) + c.main(['lesson', '--list'])"
        "; sys.exit(code or 'PySide6' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stderr) == (0, "")


def test_a_lesson_is_printed_without_a_display_with_one_page_for_each_step(lesson: Path, tmp_path: Path) -> None:
    environ = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")}
    out = tmp_path / "mine.pdf"
    answer = run_python("-m", "attnlab", "lesson", "mine", "--pdf", out, env=environ)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")
    assert len(re.findall(rb"/Type\s*/Page\b", out.read_bytes())) == 2


@pytest.mark.slow
def test_a_lesson_that_cannot_be_printed_is_reported_with_its_mistakes(lesson: Path, tmp_path: Path) -> None:
    lesson.write_text("## One\n\n```state\npreset: jurney\n```\n", encoding="utf-8")
    answer = run_python("-m", "attnlab", "lesson", "mine", "--pdf", tmp_path / "mine.pdf")
    assert (answer.returncode, answer.stdout) == (2, "")
    assert "mine.md:4: There is no preset 'jurney'; did you mean journey?" in answer.stderr
    assert answer.stderr.splitlines()[-1].startswith("attnlab: Step 1 shows the open experiment")
    assert not (tmp_path / "mine.pdf").exists()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have a display")
def test_opening_a_lesson_without_a_display_is_refused_with_a_remedy(lesson: Path) -> None:
    environ = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")}
    answer = subprocess.run(
        [sys.executable, "-m", "attnlab", "lesson", "mine"], capture_output=True, text=True, check=False, env=environ
    )
    assert answer.returncode == 2
    assert re.fullmatch(r"attnlab: There is no display[^\n]*--pdf OUT\.pdf[^\n]*\n", answer.stderr)


PROGRAM = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from attnlab.cli.main import main
from attnlab.ui.app import application

def look():
    for window in QApplication.topLevelWidgets():
        playground = getattr(window, "playground", None)  # None until it is loaded
        if playground is not None and playground.document.experiment.config.causal:
            print(window.settings.theme)
            window.close()

app = application.make_application()
timer = QTimer(interval=100)
timer.timeout.connect(look)
timer.start()
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_a_lesson_opens_in_the_theme_that_is_written_before_it(lesson: Path) -> None:
    words = ("--theme", "dark", "lesson", "mine", "--step", "2")
    answer = run_python("-c", PROGRAM, *words)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "dark\n", "")


def test_the_help_lists_every_lens_with_its_pages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lesson", "--help"]) == 0
    listed = " ".join(capsys.readouterr().out.split())
    assert "positions (encoding, rotation, order)" in listed
    assert all(name in listed for name in LENSES)


@pytest.mark.parametrize("name", LENSES)
def test_lens_titles_read_from_source_match_their_classes(name: str) -> None:
    (lens,) = (
        each
        for each in vars(import_module(f"{lenses.__name__}.{name}_lens")).values()
        if isinstance(each, type) and issubclass(each, Lens) and each is not Lens
    )
    assert (lens.name, LensEntry(lens.title, lens.about, lens.tab_order, lens.pages)) == (name, LENSES[name])


def test_a_lesson_can_use_every_lens() -> None:
    pages = (positions_lens.EncodingPage, positions_lens.RotationPage, positions_lens.OrderPage)
    assert tuple(page.name for page in pages) == LENSES["positions"].pages
    files = Path(lenses.__file__).parent.glob("*_lens.py")
    assert {file.stem.removesuffix("_lens") for file in files} == LENSES.keys()
