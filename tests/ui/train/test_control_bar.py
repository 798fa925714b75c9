"""The control bar at every width: nothing is clipped, and tools that do not fit are in a menu."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QMenu, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from attnlab.training.run import Run
from attnlab.training.tasks import make_spec
from attnlab.ui.train.control_bar import ControlBar
from attnlab.ui.train.train_session import TrainSession
from tests.ui.train.pupil import Pupil, tiny

WIDTHS = range(1500, 450, -45)


@pytest.fixture(params=["reverse", "sum"])
def session(request: pytest.FixtureRequest, qtbot: QtBot) -> Iterator[TrainSession]:
    session = TrainSession(make_spec(request.param))
    session.run = Run(session.spec, "a run")
    yield session
    session.close()


@pytest.fixture
def bar(session: TrainSession, qtbot: QtBot) -> ControlBar:
    bar = ControlBar()
    qtbot.addWidget(bar)
    bar.add_tool(QPushButton("Export film"))
    bar.show_about(session)
    bar.show_session(session, ready=True)
    bar.offer_settings(True)
    bar.resize(WIDTHS[0], 50)
    bar.show()
    qtbot.waitExposed(bar)
    return bar


def _shown(bar: ControlBar) -> list[QWidget]:
    parts = [item.widget() for item in map(bar.row.itemAt, range(bar.row.count())) if item is not None]
    return [part for part in parts if part is not None and part.isVisibleTo(bar)]


def _offered(bar: ControlBar) -> list[str]:
    bar.more.menu().aboutToShow.emit()
    return [action.text() for action in bar.more.menu().actions()] if bar.more.isVisibleTo(bar) else []


def test_nothing_is_clipped_or_lost_at_any_width(bar: ControlBar) -> None:
    buttons = {part.text() for part in _shown(bar) if isinstance(part, QPushButton)}
    assert len(buttons) == 5
    before = len(_shown(bar))
    for width in WIDTHS:
        bar.resize(width, 50)
        bar.row.activate()
        shown = _shown(bar)
        for part in shown:
            assert 0 <= part.x() <= part.geometry().right() < width, (width, part)
            assert part is bar.about or part.width() >= part.sizeHint().width(), (width, part)
        left = len([part for part in shown if part is not bar.more])
        assert left <= before
        before = left
        assert {bar.settings, bar.main, bar.stop} <= set(shown)
        there = {part.text() for part in shown if isinstance(part, QPushButton)}
        assert there | set(_offered(bar)) == buttons
        assert not there & set(_offered(bar))
    assert {"Reset · seed 0", "Export film"} <= set(_offered(bar))


def test_hidden_tools_are_in_the_menu(bar: ControlBar, qtbot: QtBot) -> None:
    bar.resize(520, 50)
    bar.more.menu().aboutToShow.emit()  # a press would wait for the choice
    offered = {action.text(): action for action in bar.more.menu().actions()}
    with qtbot.waitSignal(bar.reset_requested):
        offered["Reset · seed 0"].trigger()


@pytest.mark.parametrize("session", ["sum"], indirect=True)
def test_the_number_of_parameters_is_left_out_rather_than_cut(
    bar: ControlBar, session: TrainSession, qtbot: QtBot
) -> None:
    session.reset()  # the bar describes a run, if there is one
    with qtbot.waitSignal(session.checked):
        session.set_spec(replace(session.spec, model=replace(session.spec.model, heads=1)))
    bar.show_about(session)
    whole = "Attention only · 1 layer × 1 head · 1,050,624 parameters"
    assert bar.about.text() == whole
    seen = set()
    for width in WIDTHS:
        bar.resize(width, 50)
        bar.row.activate()
        seen.add(bar.about.visible_text)
    assert {text for text in seen if "1,0" in text} <= {whole}
    assert "Attention only · 1 layer × 1 head" in seen


def test_reset_names_its_seed(bar: ControlBar, session: TrainSession) -> None:
    assert bar.reset.text() == "Reset · seed 0"
    session.set_spec(replace(session.spec, train=replace(session.spec.train, seed=5)))
    bar.show_session(session, ready=True)
    assert bar.reset.text() == "Reset · seed 5"
    session.reset()
    spec, step, weights = session.find_moment()
    assert (spec.train.seed, step, weights) == (5, 0, None)


@pytest.mark.parametrize(
    ("speed", "done", "told"),
    [
        (50.0, 950, "50 steps/s · 1 s left"),
        (2.0, 700, "2.0 steps/s · 2 min left"),
        (0.1, 180, "0.1 steps/s · 2 h 17 min left"),
    ],
)
def test_remaining_time_has_seconds_minutes_and_hours(
    bar: ControlBar, session: TrainSession, monkeypatch: pytest.MonkeyPatch, speed: float, done: int, told: str
) -> None:
    assert session.run is not None
    session.run.spec = replace(session.run.spec, train=replace(session.run.spec.train, steps=1000))
    session.run.status, session.run.step = "running", done
    monkeypatch.setattr(TrainSession, "alive", True)
    monkeypatch.setattr(TrainSession, "speed", speed)
    bar.show_session(session, ready=True)
    assert bar.speed.text() == f"step {done} of 1,000 · {told}"


def test_disabled_buttons_are_disabled_in_the_menu(bar: ControlBar, session: TrainSession) -> None:
    session.run = None
    bar.show_session(session, ready=True)
    bar.resize(520, 50)
    bar.more.menu().aboutToShow.emit()
    offered = {action.text(): action.isEnabled() for action in bar.more.menu().actions()}
    assert not offered["Reset · seed 0"]
    assert offered["Export film"]


def test_growing_numbers_move_nothing(bar: ControlBar, session: TrainSession) -> None:
    assert session.run is not None
    for width in WIDTHS:
        bar.resize(width, 50)
        shown = set()
        for step in (0, 7, session.run.spec.train.steps):
            session.run.status, session.run.step = "running", step
            bar.show_session(session, ready=True)
            shown.add(tuple(_shown(bar)))
        assert len(shown) == 1


def test_a_button_with_several_actions_has_them_in_the_menu(bar: ControlBar, qtbot: QtBot) -> None:
    several = QPushButton("Export")
    choices = QMenu(several)
    chosen = choices.addAction("As a film")
    several.setMenu(choices)
    bar.add_tool(several)
    bar.resize(520, 50)
    for _ in range(2):  # it is made anew each time it is opened
        bar.more.menu().aboutToShow.emit()
        action = next(action for action in bar.more.menu().actions() if action.text() == "Export")
        within = action.menu()
        assert isinstance(within, QMenu)
        with qtbot.waitSignal(chosen.triggered):
            within.actions()[0].trigger()


@pytest.mark.slow
def test_the_focus_of_stop_goes_to_the_button_that_starts(pupil: Pupil) -> None:
    pupil.begin(tiny())
    header = pupil.trainer.header
    pupil.click(header.main)
    pupil.wait_for(header.stop.isEnabled)
    header.stop.setFocus()
    pupil.click(header.stop)
    pupil.wait_for(lambda: not pupil.trainer.session.alive and not header.stop.isEnabled())
    assert pupil.window.focusWidget() is header.main
