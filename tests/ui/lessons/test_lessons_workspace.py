"""The lessons' workspace and the panel beside the playground, as a lecturer uses them."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, QRectF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QFont, QFontMetricsF, QPainter, QTextDocument
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QFileDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QToolButton,
)

from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.explanation import Cell
from attnlab.attention.stages.walk import Place
from attnlab.compute.engine import compute
from attnlab.lessons.lesson import Lesson
from attnlab.ui.lessons.list_rows import RowPainter
from attnlab.ui.lessons.printing import Printing
from attnlab.ui.lessons.step_cards import StepCards
from attnlab.ui.present import prefetch as ahead
from attnlab.ui.widgets.broken_text import break_text
from attnlab.ui.workspaces.lessons import LESSONS
from tests.nursery import run_python

if TYPE_CHECKING:
    from attnlab.ui.lessons.lesson_controller import LessonController
    from attnlab.ui.lessons.lesson_pages import LessonPages
    from attnlab.ui.lessons.panel import LessonPanel
    from tests.ui.conftest import Person

Key, Mod = Qt.Key, Qt.KeyboardModifier
CTRL, SHIFT = Mod.ControlModifier, Mod.ShiftModifier


def find_controller(person: "Person") -> "LessonController":
    controller = person.window.workspace(LESSONS)
    assert controller is not None
    return controller


def workspace_of(person: "Person") -> "LessonPages":
    person.key(Key.Key_2, CTRL)
    workspace = find_controller(person).workspace
    assert workspace is not None
    return workspace


def panel_of(person: "Person") -> "LessonPanel":
    panel = find_controller(person).panel
    assert panel is not None
    return panel


def read(person: "Person") -> str:
    """Return all visible text of the lesson's panel."""
    person.settle()
    said = []
    for label in panel_of(person).findChildren(QLabel):
        if label.isVisible():
            document = QTextDocument()
            document.setHtml(label.text()) if label.text().startswith("<!DOCTYPE") else document.setPlainText(
                label.text()
            )
            said.append(document.toPlainText())
    return "\n".join(said)


def step_of(person: "Person") -> int:
    slide = find_controller(person).player.slide
    assert slide is not None
    return slide.index


def walk(person: "Person", path: Path) -> None:
    person.window.open_path(path)
    person.settle()


def test_lessons_are_loaded_only_when_needed(person: "Person") -> None:
    assert person.window.lessons is None
    person.key(Key.Key_Right)
    person.press("Causal")
    person.settle()
    assert person.window.lessons is None


def test_shipped_lessons_are_listed_in_order_and_can_be_opened(person: "Person") -> None:
    workspace = workspace_of(person)
    assert not person.playground.body.isVisible()
    titles = [row.title for row in workspace.shelf.rows]
    assert titles[0] == workspace.page.findChildren(QLabel)[0].text() == "Why attention?"
    assert titles.index("Causal masks") < titles.index("Heads") < titles.index("Positions")
    assert "Your lessons" not in titles
    workspace.shelf.setFocus()
    person.key(Key.Key_Down, widget=workspace.shelf)
    assert workspace.page.chosen == 0
    person.press("Start")
    person.settle()
    assert person.playground.body.isVisible()
    lesson = find_controller(person).player.lesson
    assert lesson is not None
    assert lesson.title == titles[1]
    person.key(Key.Key_1, CTRL)
    assert person.window.current == "playground"


def test_a_lesson_opens_at_the_chosen_step_and_marks_it(person: "Person", lesson_file: Path) -> None:
    walk(person, lesson_file)
    workspace = workspace_of(person)
    assert workspace.page.steps.rows[0].now
    assert [row.title for row in workspace.shelf.rows][-2:] == ["Your lessons", "Masks in four steps"]
    steps = workspace.page.steps
    person.wait_for(lambda: steps.visualItemRect(steps.item(2)).height() > 0)
    person.click(steps.viewport(), steps.visualItemRect(steps.item(2)).center())
    person.settle()
    assert "Step 3 of 4" in read(person)
    workspace_of(person)
    assert [row.now for row in workspace.page.steps.rows] == [False, False, True, False]


def test_the_panel_fills_numbers_and_follows_live_edits(person: "Person", lesson_file: Path) -> None:
    walk(person, lesson_file)
    assert "A row sums to 1.00, of 6 tokens." in read(person)
    person.press("Next")
    assert person.experiment.config.causal
    person.settle()
    person.wait_for(lambda: "gives ? to" in " ".join(read(person).split()))  # until the walk has come to its row
    for _ in range(3):
        person.press("Next")
    person.settle()
    weight = f"{float(person.playground.reply.trace.array('weights')[0, 2, 1]):.4f}"  # type: ignore[union-attr]
    person.wait_for(lambda: f"gives {weight} to" in read(person))
    before = find_controller(person).player.slides[0].experiment
    assert before is not None
    was = number(float(compute(before).array("weights")[0, 2, 1]))
    person.wait_for(lambda: f"before it was {was}." in read(person))
    person.open_table("W_q")
    person.type_number(0, 0, "3")
    assert f"gives {weight} to" not in read(person)
    person.undo()
    person.wait_for(lambda: f"gives {weight} to" in read(person))


def test_text_of_a_step_is_hidden_while_another_experiment_is_open(person: "Person", lesson_file: Path) -> None:
    walk(person, lesson_file)
    assert "A row sums to 1.00, of 6 tokens." in read(person)
    person.playground.open_preset("the-cat-sat")
    person.settle()
    person.wait_for(lambda: "is open now; this text uses the step’s own numbers." in read(person))
    assert "A row sums to 1.00, of 6 tokens." in read(person)
    person.press("Back to this step")
    person.settle()
    person.wait_for(lambda: "is open now" not in read(person))
    assert person.experiment is find_controller(person).player.slides[0].experiment
    find_controller(person).player.go(1)
    find_controller(person).player.go(0)
    person.undo()
    person.wait_for(lambda: "Another state of this lesson is open now" in read(person))


def test_numbers_of_an_earlier_large_step_are_filled_in(
    person: "Person", lesson_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "LARGEST", 0)  # so that every state is a large one
    walk(person, lesson_file)
    person.press("Next")
    person.wait_for(lambda: "before it was 0." in read(person))
    person.press("Present")
    presentation = find_controller(person).presentation
    assert presentation is not None
    person.wait_for(lambda: "before it was 0." in presentation.view.accessibleDescription())
    person.key(Key.Key_Escape, widget=presentation)


@pytest.mark.slow
def test_page_keys_walk_and_next_stops_at_the_end(person: "Person", lesson_file: Path) -> None:
    walk(person, lesson_file)
    person.playground.canvas.setFocus()
    for _ in range(20):
        person.key(Key.Key_PageDown)
    assert "Step 4 of 4" in read(person)
    assert not person.find(QAbstractButton, "Next").isEnabled()
    person.key(Key.Key_PageUp)
    assert person.find(QAbstractButton, "Reveal").isEnabled()  # the answer is covered again
    person.key(Key.Key_PageUp)
    assert "Step 3 of 4" in read(person)
    for _ in range(20):
        person.key(Key.Key_PageUp)
    assert not person.find(QAbstractButton, "Back").isEnabled()


def test_notes_are_folded_at_first(person: "Person", lesson_file: Path) -> None:
    walk(person, lesson_file)
    person.press("Next")
    assert "Wait for somebody" not in read(person)
    person.press("Show: Notes")
    assert "Wait for somebody to ask why." in read(person)
    person.press("Show: Notes")
    assert "Wait for somebody" not in read(person)


def test_a_question_is_asked_and_answered_beside_the_playground(person: "Person", lesson_file: Path) -> None:
    from attnlab.ui.predict.answer_sheet import AnswerSheet

    walk(person, lesson_file)
    find_controller(person).player.go_last()
    person.settle()
    assert "How much does “journey” give to “Your”?" in read(person)
    sheet = panel_of(person).findChild(AnswerSheet)
    assert sheet is not None
    assert len(sheet.hidden_cells) == 1
    assert person.document.view.at == Place("weights", asked=((1, 0),)), "what is to be guessed cannot be seen"
    person.settle()
    cards = person.playground.canvas.cards
    assert cards["weights"].hover_text(Cell("weights", 1, 0, 0)).endswith("covered until the answer is shown")
    assert re.search(r"\d\.\d+$", cards["weights"].hover_text(Cell("weights", 1, 1, 0))), "the cells beside it can be"
    assert cards["context"].accessibleName().endswith("not computed yet"), "nor can what is made of it"
    assert person.playground.explain.bars.row_text(0) == "?"
    assert re.fullmatch(r"\d\.\d+", person.playground.explain.bars.row_text(1))
    weight = f"{float(person.playground.reply.trace.array('weights')[0, 1, 0]):.4f}"  # type: ignore[union-attr]
    explained = [label.text() for label in person.playground.explain.findChildren(QLabel) if label.isVisible()]
    assert not any(weight in text for text in explained)
    field = next(field for field in sheet.findChildren(QLineEdit) if field.isVisible())
    field.setFocus()
    person.type(weight)
    person.key(Key.Key_Return)
    assert sheet.hidden_cells == ()
    assert person.document.view.at is None


def test_closing_the_lesson_restores_the_size_of_the_explanation(person: "Person", lesson_file: Path) -> None:
    height = person.playground.explain.height()
    walk(person, lesson_file)
    assert person.playground.explain.height() < height
    shown = person.document.scene
    person.press("Close the lesson")
    person.wait_for(lambda: person.playground.explain.height() == height)
    assert person.document.scene is shown
    assert not panel_of(person).isVisible()


def test_a_lesson_dropped_on_the_window_opens(person: "Person", lesson_file: Path) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(lesson_file))])
    action, buttons, at = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, QPoint(200, 200)
    enter = QDragEnterEvent(at, action, mime, buttons, Mod.NoModifier)
    QApplication.sendEvent(person.window, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(person.window, QDropEvent(QPointF(at), action, mime, buttons, Mod.NoModifier))
    assert "Everyone sees all" in read(person)


def test_a_lesson_opens_from_the_dialog(person: "Person", lesson_file: Path) -> None:
    person.window.actions_list.run("lesson-open")
    dialog = next(d for d in person.window.findChildren(QFileDialog) if d.isVisible())
    assert dialog.windowTitle() == "Open a lesson"
    dialog.fileSelected.emit(str(lesson_file))
    dialog.reject()
    assert "Everyone sees all" in read(person)


def test_mistakes_in_a_file_are_listed_and_the_rest_opens(person: "Person", lesson_file: Path) -> None:
    text = lesson_file.read_text(encoding="utf-8").replace("preset: journey", "preset: jurney")
    lesson_file.write_text(text.replace("depth: row", "depth: rows"), encoding="utf-8")
    walk(person, lesson_file)
    begun = text.splitlines().index("preset: jurney") + 1
    line = text.splitlines().index("depth: row") + 1
    assert person.message().startswith(f"Line {begun}: There is no preset 'jurney'; did you mean journey?")
    workspace = workspace_of(person)
    find_controller(person).check()
    person.wait_for(lambda: "listed above the steps" in workspace.message)
    assert f"Line {line}: " in workspace.page.problems
    assert f"Line {begun}: " in workspace.page.problems
    assert "journey" in workspace.page.problems
    assert len(workspace.page.steps.rows) == 4


PROGRAM = """
import sys
from functools import partial
from PySide6.QtCore import QTimer
from attnlab.cli.main import main
from attnlab.ui.app import application as app

def on_window(window):
    def report():
        player = window.lessons.player
        print(player.lesson.title, player.slide.index, window.lessons.panel.isVisible())
        window.close()
    window.ready.connect(lambda: QTimer.singleShot(0, report))

app.run = partial(app.run, on_window=on_window)
sys.exit(main(["lesson", sys.argv[1], "--step", "3"]))
"""


@pytest.mark.slow
def test_the_program_opens_with_a_lesson_at_a_step(lesson_file: Path) -> None:
    answer = run_python("-c", PROGRAM, lesson_file)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout.splitlines() == ["Masks in four steps 2 True"]


def test_a_missing_lesson_is_reported(person: "Person") -> None:
    assert not find_controller(person).open("causal-maks")
    assert "causal-masks" in person.message()
    assert find_controller(person).player.lesson is None


def test_a_valid_lesson_passes_the_check(person: "Person", lesson_file: Path) -> None:
    walk(person, lesson_file)
    workspace = workspace_of(person)
    find_controller(person).check()
    said = "All 4 steps can be computed, and every number in their texts is filled."
    person.wait_for(lambda: workspace.message == said)
    assert workspace.page.problems == ""


@pytest.mark.slow
def test_a_lesson_is_printed(person: "Person", lesson_file: Path, tmp_path: Path) -> None:
    walk(person, lesson_file)
    workspace = workspace_of(person)
    menu = person.find(QPushButton, "Print…").menu()
    assert len(menu.actions()) == 6
    menu.actions()[0].trigger()
    dialog = next(d for d in person.window.findChildren(QFileDialog) if d.isVisible())
    dialog.fileSelected.emit(str(tmp_path / "nowhere" / "out.pdf"))
    person.wait_for(lambda: "there is no folder" in workspace.message)
    dialog.fileSelected.emit(str(tmp_path / "out.pdf"))
    dialog.reject()
    person.wait_for(lambda: workspace.message == f"Printed 5 pages to {tmp_path / 'out.pdf'}")
    assert (tmp_path / "out.pdf").read_bytes().startswith(b"%PDF")


def test_a_lesson_that_cannot_be_computed_is_not_printed(person: "Person", tmp_path: Path) -> None:
    workspace = workspace_of(person)
    Printing(find_controller(person), Lesson("empty", "Empty", ()), tmp_path / "out.pdf")
    person.wait_for(lambda: "there is nothing to print" in workspace.message)
    assert not (tmp_path / "out.pdf").exists()


def test_presenting_begins_at_the_open_step_or_at_the_first(person: "Person", lesson_file: Path) -> None:
    walk(person, lesson_file)
    controller = find_controller(person)
    controller.player.go(2)
    person.key(Key.Key_F5)
    assert controller.presentation is not None
    assert step_of(person) == 2
    person.key(Key.Key_Escape, widget=controller.presentation)
    assert controller.presentation is None
    assert step_of(person) == 2
    person.key(Key.Key_F5, SHIFT)
    assert step_of(person) == 0
    person.key(Key.Key_Escape, widget=controller.presentation)


def test_f5_presents_the_lesson_shown_in_the_workspace(person: "Person") -> None:
    workspace = workspace_of(person)
    workspace.page.steps.setCurrentRow(1)
    person.key(Key.Key_F5)
    controller = find_controller(person)
    assert controller.presentation is not None
    assert step_of(person) == 1
    assert controller.player.lesson == workspace.lessons[0]
    person.key(Key.Key_Escape, widget=controller.presentation)
    person.settle()
    assert "Step 2 of" in read(person)


def test_actions_of_the_playground_show_the_playground(person: "Person") -> None:
    workspace_of(person)
    person.key(Key.Key_M, CTRL)
    assert person.playground.body.isVisible()
    assert person.experiment.config.causal


def test_closing_the_window_ends_the_presentation(person: "Person", lesson_file: Path) -> None:
    walk(person, lesson_file)
    person.key(Key.Key_F5)
    assert person.window.close()
    assert find_controller(person).presentation is None


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1440, 900), (1000, 640)])
def test_controls_have_names_and_tips_in_every_theme_and_size(
    person: "Person", lesson_file: Path, theme: str, size: tuple[int, int]
) -> None:
    person.window.resize(*size)
    person.window.set_theme(theme)
    walk(person, lesson_file)
    person.press("Next")
    workspace_of(person)
    person.window.grab()
    for button in person.window.findChildren(QAbstractButton):
        if button.isVisible():
            assert button.toolTip() or isinstance(button.parent(), QToolButton), button.text()
            assert button.accessibleName() or button.text()


@pytest.mark.slow
def test_the_list_shows_pictures_and_minutes(person: "Person") -> None:
    from attnlab.lessons.duration import estimate_minutes

    workspace = workspace_of(person)
    lessons = workspace.lessons
    person.wait_for(lambda: all(row.thumbnail is not None for row in workspace.shelf.rows if not row.section))
    captions = [row.caption for row in workspace.shelf.rows if not row.section]
    assert captions == [f"{estimate_minutes(lesson)} min" for lesson in lessons]
    steps = workspace.page.steps.rows
    assert all(row.thumbnail is not None for row in steps)
    assert [row.number for row in steps if row.asks] == [
        i + 1 for i, step in enumerate(lessons[0].steps) if step.question is not None
    ]
    covered = next(row.thumbnail for row in steps if row.asks)
    assert covered is not None
    assert covered.covered.any()


def test_the_mark_of_a_question_does_not_lie_on_the_picture_of_its_step(
    person: "Person", monkeypatch: pytest.MonkeyPatch
) -> None:
    from attnlab.ui.lessons import step_cards

    workspace = workspace_of(person)
    person.wait_for(lambda: all(row.thumbnail is not None for row in workspace.page.steps.rows))
    pictures: list[QRectF] = []
    overlap: list[bool] = []
    monkeypatch.setattr(step_cards, "draw_thumbnail", lambda _painter, area, *_: pictures.append(area))

    def note(_: object, _painter: QPainter, rect: QRectF, text: str, *_colours: str) -> None:
        if text == "?":
            overlap.append(pictures[-1].intersects(rect))

    monkeypatch.setattr(step_cards.StepCardPainter, "_paint_badge", note)
    workspace.page.steps.grab()
    assert overlap
    assert not any(overlap)


def test_the_cards_of_steps_have_subscripts(person: "Person", monkeypatch: pytest.MonkeyPatch) -> None:
    from attnlab.figures import subscripts
    from attnlab.lessons.library import find

    pieces: list[tuple[str, bool]] = []
    draw = subscripts.draw_piece

    def note(painter: QPainter, x: float, middle: float, piece: str, font: QFont, *, low: bool) -> float:
        pieces.append((piece, low))
        return draw(painter, x, middle, piece, font, low=low)

    workspace = workspace_of(person)
    workspace.show_lesson(find("scaling"))
    monkeypatch.setattr(subscripts, "draw_piece", note)
    workspace.page.steps.grab()
    assert ("k", True) in pieces
    assert not any("_" in piece for piece, _ in pieces)


def test_the_sentence_on_each_lesson_fits_in_its_row(person: "Person", monkeypatch: pytest.MonkeyPatch) -> None:
    person.window.resize(1366, 768)
    workspace_of(person)
    cut: dict[str, str] = {}

    def note(self: RowPainter, painter: QPainter, at: QRectF, text: str, face: QFont, colour: str, most: int) -> float:
        last = break_text(text, face, at.width(), most)[-1]
        cut[text] = last if last.endswith("…") and not text.endswith("…") else ""
        return at.top() + most * QFontMetricsF(face).height()

    monkeypatch.setattr(RowPainter, "paint_block", note)
    person.window.resize(1366, 1600)  # all rows are visible
    person.window.grab()
    assert len(cut) >= 28
    assert set(cut.values()) == {""}


def test_the_cards_of_steps_keep_their_size_when_the_page_gets_a_scroll_bar(person: "Person") -> None:
    """Cards that filled the room of the scroll bar brought it back without end, and Qt's stack ran over."""
    page = workspace_of(person).page
    area = page.findChild(QScrollArea)
    assert area is not None
    heights, bars = set(), set()
    for height in (1400, *range(1100, 1060, -2), 800):  # at about 1080 the page just fits
        person.window.resize(1920, height)
        QApplication.processEvents()
        heights.add(page.steps.height())
        bars.add(area.verticalScrollBar().maximum() > 0)
    assert bars == {False, True}
    assert len(heights) == 1


def test_the_cards_of_steps_keep_their_size_while_the_page_is_narrowed(
    person: "Person", monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cards still laid out in the wider page took its room, from 981 px height on, and Qt's stack ran over."""
    fitted, fit = [], StepCards._fit

    def fit_at_most(cards: StepCards) -> None:
        fitted.append(cards.height())
        if len(fitted) < 100:
            fit(cards)

    steps = workspace_of(person).page.steps
    monkeypatch.setattr(StepCards, "_fit", fit_at_most)
    for height in range(960, 1000):
        fitted.clear()
        person.window.resize(1024, height)
        QApplication.processEvents()
        assert len(fitted) < 20, height
    assert steps.isVisible()
