"""Pictures and links in lessons: files beside the lesson, bounded, shown as they are; nothing is fetched or opened."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication

from attnlab.figures.slides.slide_markdown import read_paragraphs
from attnlab.figures.slides.slide_pictures import decode
from attnlab.lessons.parse import read
from attnlab.lessons.pictures import LIMIT, MOST, read_pictures, split_pictures
from attnlab.lessons.slides import check
from attnlab.ui.lessons.draft import Draft
from attnlab.ui.lessons.markdown_label import MarkdownLabel
from attnlab.ui.lessons.picture_label import PictureLabel
from attnlab.ui.present.pdf import compute_pages
from attnlab.ui.workspaces.lessons import LESSONS

if TYPE_CHECKING:
    from tests.ui.conftest import Person

STATE = "```state\npreset: journey\n```\n"


def write_lesson(folder: Path, text: str) -> Path:
    path = folder / "pictured.md"
    path.write_text(f"---\ntitle: Pictured\n---\n\n## One\n\n{STATE}\n{text}\n", encoding="utf-8")
    return path


def paint(path: Path, colour: str = "#ff0000") -> None:
    image = QImage(40, 20, QImage.Format.Format_RGB32)
    image.fill(QColor(colour))
    assert image.save(str(path))


def test_a_picture_beside_the_lesson_is_shown_on_the_slide_and_in_the_panel(person: "Person", tmp_path: Path) -> None:
    paint(tmp_path / "clock.png")
    path = write_lesson(tmp_path, "See the hands.\n\n![A clock](clock.png)")
    lesson = read(path)
    assert check(lesson) == ()
    (page,) = compute_pages(lesson)
    assert [each.alt for each in page.pictures] == ["A clock"]
    assert [run.text for each in page.text for run in each.runs] == ["See the hands."]
    controller = person.window.workspace(LESSONS)
    assert controller is not None
    assert controller.open(path)
    person.settle()
    assert controller.panel is not None
    picture = controller.panel.findChild(PictureLabel)
    person.wait_for(lambda: picture.isVisible() and picture.count == 1)
    assert picture.accessibleName() == "A clock"
    assert picture.grab().toImage().pixelColor(5, 5) == QColor("#ff0000")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing.png", "There is no picture missing.png beside the lesson."),
        ("../clock.png", "must be the name of a PNG or JPEG file"),
        ("/etc/passwd", "must be the name of a PNG or JPEG file"),
        ("https://example.org/a.png", "must be the name of a PNG or JPEG file"),
        ("drawing.svg", "must be the name of a PNG or JPEG file"),
        ("pipe.png", "it is a pipe or a device"),
        ("huge.png", "is larger than the 4 MiB"),
    ],
)
def test_other_pictures_are_refused_with_their_line(tmp_path: Path, name: str, reason: str) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    with (tmp_path / "huge.png").open("wb") as file:
        file.truncate(LIMIT + 1)
    lesson = read(write_lesson(tmp_path, f"Text.\n\n![x]({name})"))
    (problem,) = check(lesson)
    assert problem.line == 13
    assert reason in problem.reason
    assert read_pictures(lesson, lesson.steps[0].text) == ()


def test_more_pictures_than_a_slide_holds_are_named(tmp_path: Path, qapp: QApplication) -> None:
    paint(tmp_path / "a.png")
    lesson = read(write_lesson(tmp_path, "\n".join(["![x](a.png)"] * (MOST + 1))))
    assert [problem.reason for problem in check(lesson)] == ["This is picture 5 of a step; the maximum is 4."]


def test_a_picture_within_a_line_is_named_because_it_is_not_shown(tmp_path: Path) -> None:
    paint(tmp_path / "a.png")
    lesson = read(write_lesson(tmp_path, "Write `![x](a.png)`.\n\nSee ![x](a.png) here.\n\n![x](a.png)"))
    (problem,) = check(lesson)
    assert problem.reason == "The picture a.png is within a line; put it on a line of its own."
    assert problem.line == 13


def test_pictures_within_a_line_and_in_code_are_text() -> None:
    assert split_pictures("See ![x](a.png) here.")[1] == []
    assert split_pictures("```\n![x](a.png)\n```")[1] == []
    assert split_pictures("a\n![x](a.png)\nb") == ("a\n\nb", [(1, "x", "a.png")])


def test_bytes_that_are_no_picture_are_not_decoded(qapp: QApplication) -> None:
    assert decode(b"") is None
    assert decode(b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>") is None
    header = b"\x89PNG\r\n\x1a\n" + b"\x00\x00\x00\rIHDR" + (60_000).to_bytes(4, "big") * 2 + b"\x08\x02" + bytes(7)
    assert decode(header) is None


def test_a_lesson_saved_elsewhere_takes_its_pictures_along(tmp_path: Path, qapp: QApplication) -> None:
    paint(tmp_path / "clock.png")
    draft = Draft(read(write_lesson(tmp_path, "![A clock](clock.png)")))
    (tmp_path / "other").mkdir()
    draft.save(tmp_path / "other" / "mine.md")
    assert (tmp_path / "other" / "clock.png").read_bytes() == (tmp_path / "clock.png").read_bytes()


def test_a_link_is_underlined_text_and_its_address_is_read_in_the_panel(person: "Person", tmp_path: Path) -> None:
    text = "Read [the paper](https://example.org/paper) first."
    (paragraph,) = read_paragraphs(text)
    assert [(run.text, run.style) for run in paragraph.runs] == [("Read ", ""), ("the paper", "link"), (" first.", "")]
    controller = person.window.workspace(LESSONS)
    assert controller is not None
    assert controller.open(write_lesson(tmp_path, text))
    person.settle()
    assert controller.panel is not None
    labels = controller.panel.findChildren(MarkdownLabel)
    person.wait_for(lambda: any("the paper" in label.text() for label in labels))
    label = next(label for label in labels if "the paper" in label.text())
    assert "(https://example.org/paper)" in label.text()
    assert "href" not in label.text()
    assert not label.openExternalLinks()
