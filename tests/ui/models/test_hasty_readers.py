"""What a hasty reader does: types, undoes and switches before the model has answered."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit, QToolButton

from attnlab.pretrained.model import read_model
from attnlab.ui.train.diagram_window import DiagramWindow
from tests.ui.models.reader import ModelReader

Key, Mod = Qt.Key, Qt.KeyboardModifier


@pytest.fixture
def hold(reader: ModelReader, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Callable[[], None]]]:
    """Return a function that holds back the next job of a kind, and returns what lets it go on."""
    gates: list[threading.Event] = []

    def hold_back(name: str) -> Callable[[], None]:
        own, begun, gate = getattr(reader.models.session._reader, name), threading.Event(), threading.Event()
        gates.append(gate)

        def slow(*arguments: Any, **named: Any) -> Any:
            begun.set()
            gate.wait()
            return own(*arguments, **named)

        monkeypatch.setattr(reader.models.session._reader, name, slow)

        def go_on() -> None:
            reader.wait_for(begun.is_set)
            monkeypatch.setattr(reader.models.session._reader, name, own)
            gate.set()

        return go_on

    yield hold_back
    for gate in gates:
        gate.set()


def wait_until_running(reader: ModelReader) -> None:
    """Wait until the reader's thread has begun a job."""
    reader.wait_for(lambda: reader.models.session._worker._lane._running is not None)


def retype(reader: ModelReader, text: str) -> None:
    field = reader.find(QPlainTextEdit, "Input")
    field.setFocus()
    field.selectAll()
    reader.type(text)


def test_a_refused_text_does_not_undo_the_one_that_was_typed_after_it(
    reader: ModelReader, hold: Callable[[str], Callable[[], None]]
) -> None:
    session = reader.models.session
    go_on = hold("read_overview")
    reader.models.set_text("b a Z", "paste a text")
    wait_until_running(reader)
    reader.models.set_text("b a b", "paste a text")
    go_on()
    reader.wait()
    assert session.state.text == "b a b"
    assert not reader.models.panel.message.isVisible()
    reader.check_every_map()
    assert session.undo_label == "paste a text"


def test_undo_returns_to_a_longer_text_with_an_arrow_off(reader: ModelReader) -> None:
    reader.models.toggle_arrow(8, 3)
    reader.wait()
    reader.find(QToolButton, "Remove L1 H1, d₈ → b")
    reader.models.set_text("b a", "paste a text")
    reader.wait()
    reader.models.session.undo()
    reader.wait()
    reader.find(QToolButton, "Remove L1 H1, d₈ → b")
    reader.check_every_map()


def test_the_arrow_of_another_text_gets_the_tokens_of_that_text(reader: ModelReader) -> None:
    reader.models.toggle_arrow(3, 2)
    reader.wait()
    reader.models.set_text("f f f f f f", "paste a text")
    reader.wait()
    reader.models.session.undo()
    reader.wait()
    reader.find(QToolButton, "Remove L1 H1, b → d₂")


def test_the_layer_that_opens_is_the_one_that_was_asked_for(
    reader: ModelReader, hold: Callable[[str], Callable[[], None]]
) -> None:
    expected = reader.in_map().copy()
    go_on = hold("read_experiment")
    reader.press("Open in Playground")
    reader.models.session.show(layer=0, head=0)
    go_on()
    reader.wait_for(lambda: reader.window.current == "playground")
    reader.settle()
    origin = reader.models.tools.trip.origin
    assert origin is not None
    assert origin.layer == 1
    assert "induction · layer 1" in reader.window.windowTitle()
    assert reader.document.view.head == 1
    assert abs(read_model("induction").run("c a d b f e c a d").attention(1)[1].numpy() - expected).max() == 0


def test_undo_is_shown_in_the_text_even_while_the_text_has_the_focus(reader: ModelReader) -> None:
    retype(reader, "b a b a")
    reader.wait()
    reader.models.session.undo()  # as the Edit menu does, which leaves the focus where it is
    reader.wait()
    assert reader.models.session.state.text == "c a d b f e c a d"
    assert reader.find(QPlainTextEdit, "Input").toPlainText() == "c a d b f e c a d"


def test_f5_right_after_a_new_text_presents_the_diagram_of_that_text(
    reader: ModelReader, hold: Callable[[str], Callable[[], None]]
) -> None:
    session, view = reader.models.session, reader.models.cards.diagram.view
    session.show(drawn=True)
    reader.wait()
    for widget in (None, view):  # the key of the window, and that of the diagram
        reader.models.set_text("c a d b f e c a d", "paste a text")
        reader.wait()
        go_on = hold("read_overview")
        retype(reader, "b a b a")
        reader.key(Key.Key_F5, widget=widget)
        assert not reader.window.findChildren(DiagramWindow)
        go_on()
        reader.wait()
        (shown,) = reader.window.findChildren(DiagramWindow)
        assert shown.diagrams[0].data.inside.inputs == ("b", "a", "b", "a")
        reader.qtbot.keyClick(shown, Key.Key_Escape)
        reader.wait_for(lambda: not reader.window.findChildren(DiagramWindow))
    go_on = hold("read_overview")
    reader.models.set_text("b a Z", "paste a text")
    reader.key(Key.Key_F5)
    go_on()
    reader.wait_for(reader.models.panel.message.isVisible)
    reader.models.set_text("b a b", "paste a text")
    reader.wait()
    assert not reader.window.findChildren(DiagramWindow)  # the key was for the text that was refused


def test_an_arrow_of_a_long_text_leaves_the_patterns_as_they_are(reader: ModelReader) -> None:
    reader.open("characters", ("Shall I " * 8)[:60])
    before = reader.models.session.patterns
    reader.models.toggle_arrow(58, 3)
    reader.wait()
    assert not reader.models.panel.message.isVisible()
    assert [row.induction for row in reader.models.session.patterns] == [row.induction for row in before]


def test_half_an_emoji_is_refused_in_a_sentence(reader: ModelReader) -> None:
    reader.models.set_text("b a \ud83d", "paste a text")
    reader.wait_for(lambda: reader.models.panel.message.isVisible())
    reader.wait()


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", "  ", "\n", "😀", "b", "b a \0", "\u202e"])
def test_every_text_is_read_or_refused_and_the_next_one_is_read(reader: ModelReader, text: str) -> None:
    reader.models.set_text(text, "paste a text")
    reader.wait()
    reader.models.set_text("b a b", "paste a text")
    reader.wait()
    reader.check_every_map()


def test_closing_while_a_model_is_read_waits_for_nothing(
    reader: ModelReader, hold: Callable[[str], Callable[[], None]]
) -> None:
    go_on = hold("read_overview")
    reader.models.open_model("characters", "Shall I")
    wait_until_running(reader)
    reader.models.stop()
    assert not reader.models.busy
    go_on()


def test_ctrl_enter_in_a_text_starts_no_training(reader: ModelReader) -> None:
    field = reader.models.panel.text
    field.setFocus()
    reader.key(Key.Key_Return, Mod.ControlModifier)
    assert reader.window.current == "models"
    assert field.toPlainText() == "c a d b f e c a d"
