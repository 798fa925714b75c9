"""Lessons on paper: one page for each step, open questions, answers last; a failure keeps the old file."""

import re
import zlib
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRectF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication

import attnlab
from attnlab.attention.examples.presets import preset
from attnlab.attention.stages.arithmetic import number
from attnlab.base.errors import AttnlabError, FileError
from attnlab.figures.palette import LIGHT
from attnlab.figures.slides.lens_content import Table
from attnlab.figures.slides.slide_layout import Sheet
from attnlab.figures.slides.slide_painter import draw_slide
from attnlab.lessons.lesson import Lesson
from attnlab.lessons.library import find, list_shipped
from attnlab.lessons.parse import parse
from attnlab.lessons.tour import make_tour
from attnlab.ui.present import write_pdf
from attnlab.ui.present.lens_page import LensPage
from attnlab.ui.present.paper import Paper
from attnlab.ui.present.pdf import compute_pages, print_pages
from tests.quick import slow_but

TEXT = """---
title: On paper
---

## What a row sums to

```state
preset: journey
```

It is {{sum(weights[0, :]):.2f}}.

## And this one?

```state
cell: [1, 0]
```

```question
ask: How much does “journey” give to “Your”?
blank: weights[1, 0]
```
"""
pytestmark = pytest.mark.usefixtures("qapp")


def test_a_lesson_gives_one_page_for_each_step_and_one_of_answers(tmp_path: Path, qapp: QApplication) -> None:
    path = tmp_path / "lesson.pdf"
    assert write_pdf(parse(TEXT, "paper"), path) == 3
    data = path.read_bytes()
    assert data.startswith(b"%PDF-")
    assert data.count(b"/Type /Page\n") == 3
    assert re.search(rb"/MediaBox \[0 0 960(\.0+)? 540(\.0+)?\]", data)  # 16 : 9
    assert b"/ToUnicode" in data  # the text is text
    assert not list(tmp_path.glob(".attnlab-*"))


def test_blanks_stay_empty_and_answers_come_last() -> None:
    first, question, answers = compute_pages(parse(TEXT, "paper"))
    assert "".join(run.text for run in first.text[0].runs) == "It is 1.00."
    assert question.main is not None
    assert question.main.marks == ((0, 1, 0),)
    assert question.arithmetic_covered
    assert answers.title == "Answers"
    answer = number(float(attnlab.compute(preset("journey")).array("weights")[0, 1, 0]))
    lines = ["".join(run.text for run in each.runs) for each in answers.text]
    assert lines == ["Step 2. How much does “journey” give to “Your”?", f"weights[1, 0] = {answer}"]


def test_the_answer_of_a_choice_is_the_choice() -> None:
    text = TEXT.replace("blank: weights[1, 0]", "blank: weights[1, :]\nchoices:\n  - little\n  - much\nright: 1")
    answers = compute_pages(parse(text, "paper"))[-1]
    lines = ["".join(run.text for run in each.runs) for each in answers.text]
    assert lines == ["Step 2. How much does “journey” give to “Your”?", "1  little"]


def test_a_tour_of_the_open_experiment_can_be_printed(tmp_path: Path) -> None:
    e = preset("journey")
    lesson = make_tour(e)
    assert write_pdf(lesson, tmp_path / "tour.pdf", experiment=e) == len(lesson.steps)
    with pytest.raises(AttnlabError, match="Step 1 shows the open experiment, but"):
        write_pdf(lesson, tmp_path / "other.pdf")
    assert not (tmp_path / "other.pdf").exists()


def test_a_failed_print_is_reported_and_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "old.pdf"
    path.write_bytes(b"old")
    with pytest.raises(AttnlabError, match="has no steps"):
        write_pdf(Lesson("empty", "Empty", ()), path)
    assert path.read_bytes() == b"old"
    with pytest.raises(FileError, match="there is no folder"):
        write_pdf(parse(TEXT, "paper"), tmp_path / "nowhere" / "lesson.pdf")


def test_a_cancelled_print_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "old.pdf"
    path.write_bytes(b"old")
    lesson = parse(TEXT, "paper")
    job = print_pages(compute_pages(lesson), lesson.title, path)
    next(job)
    job.close()  # type: ignore[attr-defined]
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("lens", ["statistics", "precision"])
def test_a_table_is_printed_in_large_type(tmp_path: Path, lens: str) -> None:
    text = f"## Look\n\n```state\npreset: journey\nlens: {lens}\n```\n"
    (page,) = compute_pages(parse(text, "look"))
    assert isinstance(page.picture, Table)
    cells = sum(len(column.cells) for column in page.picture.columns)
    paths = tmp_path / "with.pdf", tmp_path / "without.pdf"
    for path, each in zip(paths, (page, replace(page, picture=None)), strict=True):
        assert len(list(print_pages([each], "Look", path))) == 1
    assert glyphs(paths[0]) - glyphs(paths[1]) > cells


@pytest.mark.parametrize("lens", ["statistics", "precision"])
def test_a_lens_is_printed_in_place_of_the_map(tmp_path: Path, lens: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lens without a picture of its own, such as a newly added one, is printed as the window shows it."""
    monkeypatch.setattr("attnlab.ui.present.pdf.make_picture", lambda *_: None)
    text = f"## Look\n\n```state\npreset: journey\nlens: {lens}\n```\n"
    (page,) = compute_pages(parse(text, "look"))
    assert isinstance(page, LensPage)
    drawn = []
    for index, each in enumerate((page, replace(page, lens="none"), replace(page, lens="none", instead=None))):
        path = tmp_path / f"{index}.pdf"
        assert len(list(print_pages([each], "Look", path))) >= 1
        drawn.append(glyphs(path))
    with_lens, with_map, words = drawn
    assert words < 100
    assert with_lens > words + 200
    assert with_map > words + 200  # what stands there without a lens
    assert with_lens != with_map


def test_a_lens_that_cannot_be_drawn_is_printed_as_in_the_window(tmp_path: Path) -> None:
    """As on the slide: the map in its place would leave open why the lens is not there."""
    text = "## Look\n\n```state\npreset: journey\nlens: positions/rotation\n```\n"
    (page,) = compute_pages(parse(text, "look"))  # six words are too few for its circles
    assert isinstance(page, LensPage)
    assert page.instead is not None
    drawn = []
    for index, each in enumerate((page, page.instead)):
        print_to = tmp_path / f"{index}.pdf"
        assert len(list(print_pages([each], "Look", print_to))) >= 1
        drawn.append(glyphs(print_to))
    assert drawn[0] != drawn[1]


def test_a_job_of_a_printed_lens_that_fails_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: object) -> None:
        raise AttnlabError("It cannot be measured.")

    monkeypatch.setattr("attnlab.ui.playground.lenses.sensitivity_lens.find_sensitivity", refuse)
    text = "## Look\n\n```state\npreset: journey\nlens: sensitivity\n```\n"
    assert write_pdf(parse(text, "look"), tmp_path / "look.pdf") == 1


def test_every_outline_in_the_file_has_points(tmp_path: Path) -> None:
    """Of lines without a length, such as the perpendicular of a key along the query, viewers of PDF files complain."""
    path = tmp_path / "arrows.pdf"
    write_pdf(find("attention-is-geometry"), path)
    painted = b"\n".join(read_streams(path))
    assert b"h f\n" in painted
    assert not re.findall(rb"gs\nh\b", painted)


def glyphs(path: Path) -> int:
    """Return how many runs of glyphs the pages of a PDF file show."""
    return sum(len(re.findall(rb"\bT[jJ]\b", stream)) for stream in read_streams(path))


def read_streams(path: Path) -> list[bytes]:
    """Return the streams of a PDF file that can be decompressed, among them what its pages paint."""
    found = []
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", path.read_bytes(), re.DOTALL):
        try:
            found.append(zlib.decompress(stream))
        except zlib.error:
            continue
    return found


@pytest.mark.parametrize(
    ("paper", "pages", "size"),
    [
        (Paper(notes=True), 3, (595, 842)),
        (Paper(per_page=2), 2, (595, 842)),
        (Paper(notes=True, per_page=2), 2, (595, 842)),
        (Paper(per_page=4), 1, (842, 595)),
        (Paper(per_page=6), 1, (595, 842)),
    ],
)
def test_several_slides_and_notes_fit_on_paper(tmp_path: Path, paper: Paper, pages: int, size: tuple[int, int]) -> None:
    path = tmp_path / "lesson.pdf"
    text = TEXT.replace("## And", "```notes\nSay it slowly.\n```\n\n## And")
    write_pdf(parse(text, "paper"), path, paper=paper)
    data = path.read_bytes()
    assert data.count(b"/Type /Page\n") == pages
    box = re.search(rb"/MediaBox \[0 0 ([0-9.]+) ([0-9.]+)\]", data)
    assert box is not None
    assert (round(float(box[1])), round(float(box[2]))) == size


def test_slides_on_paper_do_not_overlap() -> None:
    for paper in (Paper(per_page=2), Paper(per_page=4), Paper(per_page=6), Paper(notes=True)):
        width, height = (3508.0, 2480.0) if paper.per_page == 4 else (2480.0, 3508.0)
        places = paper.list_places(width, height)
        assert len(places) == paper.per_page
        assert all(not one.intersects(other) for one, other in combinations(places, 2))
        for place in places:
            sheet = paper.find_sheet(place)
            assert place.contains(QRectF(sheet.x, sheet.y, sheet.width, sheet.height).adjusted(1, 1, -1, -1))
            assert sheet.width / sheet.height == pytest.approx(16 / 9)


def test_the_frame_around_a_slide_covers_nothing_of_it() -> None:
    image = QImage(800, 1100, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    painter = QPainter(image)
    painter.setBrush(QColor("red"))
    paper = Paper(per_page=2)
    place = paper.list_places(800, 1100)[0]
    paper.finish(painter, place, "", LIGHT)
    painter.end()
    sheet = paper.find_sheet(place)
    inside = QPoint(round(sheet.x + sheet.width / 2), round(sheet.y + sheet.height / 2))
    assert image.pixelColor(inside) == QColor("white")


def test_notes_need_room() -> None:
    with pytest.raises(AttnlabError, match="Notes need room"):
        Paper(notes=True, per_page=4)
    with pytest.raises(AttnlabError, match="3 slides a page"):
        Paper(per_page=3)


def test_the_answers_of_a_step_stay_on_one_page() -> None:
    steps = [
        f"## Question {i}\n\n```state\npreset: journey\n```\n\n```question\nask: Which?\nblank: weights[{i}, :]\n```\n"
        for i in range(5)
    ]
    text = "---\ntitle: On paper\n---\n\n" + "\n".join(steps)
    pages = [page for page in compute_pages(parse(text, "paper")) if page.title == "Answers"]
    lines = [["".join(run.text for run in each.runs) for each in page.text] for page in pages]
    assert [sum(line.startswith("Step ") for line in page) for page in lines] == [2, 2, 1]
    assert all(page[0].startswith("Step ") for page in lines)
    assert [line.split()[1] for page in lines for line in page if line.startswith("Step ")] == [
        f"{i}." for i in range(1, 6)
    ]


@pytest.mark.parametrize("name", slow_but(["trained-heads", "learned-by-heart", "switch-a-head-off"], list_shipped()))
def test_the_answers_of_a_lesson_fit_their_pages(name: str) -> None:
    image = QImage(1280, 720, QImage.Format.Format_RGB32)
    for page in compute_pages(find(name)):
        if page.title == "Answers":
            painter = QPainter(image)
            drawn = draw_slide(painter, Sheet(0, 0, 1280, 720), page, LIGHT)
            painter.end()
            assert drawn.left_out == ()
