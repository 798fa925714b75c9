"""A head is switched off in the run that goes on, and on again; before a run in its settings."""

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QRectF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu

from tests.ui.train.pupil import Pupil, tiny
from tests.ui.train.test_model_page import click_segment

OFF, WITHOUT, WITH = "Switch this head off, only for looking", "Train on without this head", "Train on with this head"


def open_menu(pupil: Pupil, index: int) -> QMenu:
    """Click the card of a map with the right mouse button."""
    view = pupil.trainer.maps.view
    view.customContextMenuRequested.emit(view.cards[index].rect.topLeft() + QPoint(20, 12))
    (menu,) = (each for each in pupil.window.findChildren(QMenu) if each.isVisible())
    return menu


def read_menu(menu: QMenu) -> list[str]:
    return [action.text() for action in menu.actions() if not action.isSeparator()]


def choose(pupil: Pupil, index: int, title: str) -> None:
    menu = open_menu(pupil, index)
    (action,) = (each for each in menu.actions() if each.text() == title)
    action.trigger()
    menu.close()


@pytest.mark.slow
def test_a_run_goes_on_without_a_head_and_with_it_again(pupil: Pupil) -> None:
    pupil.begin(tiny(steps=30))
    pupil.train_to_the_end()
    first, maps, course = pupil.run, pupil.trainer.maps, pupil.trainer.session.inspection.course
    pupil.wait_for(lambda: {m.step for m in first.recorder.moments} <= course.rows.keys())
    first_course = dict(course.rows)
    menu = open_menu(pupil, 1)
    opens = [
        "Open decoder 1, head 1, in Playground",
        "Open decoder 1 in Playground",
        "Open decoder 1 as a whole block",
    ]
    assert read_menu(menu) == [*opens, OFF, WITHOUT]
    menu.close()
    with pupil.qtbot.waitSignal(pupil.trainer.session.ended):
        choose(pupil, 1, WITHOUT)
    second = pupil.run
    assert second is not first
    assert first in pupil.trainer.session.kept
    assert first.spec.train.heads_off == ""
    assert second.spec.train.heads_off == "decoder 1.1"
    assert second.name.endswith("from step 30, decoder 1.1 off")
    assert [mark.title for mark in second.marks if not mark.suggested] == ["all heads on → decoder 1.1 off"]
    assert 30 in [metric.step for metric in second.metrics]  # measured at once
    assert second.step > 30
    pupil.wait_for(lambda: maps.view.is_left_out(1))
    assert not maps.view.is_left_out(0)
    pupil.wait_for(lambda: maps.head.step.text() == f"step {second.step:,} · 1 head off")
    assert "1 layer × 2 heads, 1 off · " in pupil.trainer.header.about.text()
    pupil.wait_for(lambda: maps.heads.describe_worth(0) != "")
    assert maps.heads.describe_worth(1) == "off in this run"
    menu = open_menu(pupil, 1)
    assert read_menu(menu) == [*opens, WITH]
    menu.close()
    early = second.recorder.moments[1].step
    pupil.trainer.session.look_at(early)  # a moment from before
    pupil.wait_for(lambda: maps.head.step.text() == f"step {early}")
    assert not maps.view.is_left_out(1)
    pupil.wait_for(lambda: {m.step for m in second.recorder.moments} <= course.rows.keys())
    np.testing.assert_array_equal(course.rows[early], first_course[early])
    choose(pupil, 1, WITHOUT)
    assert pupil.trainer.footer.message.text() == "The run trains without decoder 1.1 already."
    assert pupil.run is second
    pupil.trainer.session.look_at(None)
    pupil.wait_for(lambda: maps.view.is_left_out(1))
    maps.view.switch_requested.emit(1)  # Delete: it stays off
    assert maps.view.is_left_out(1)
    maps.open_map(1)
    assert not maps.large_map.switch.isVisible()
    assert maps.large_map.train.text() == "Train with it"
    with pupil.qtbot.waitSignal(pupil.trainer.session.ended):
        QTest.mouseClick(maps.large_map.train, Qt.MouseButton.LeftButton)
    assert pupil.run.spec.train.heads_off == ""
    pupil.wait_for(lambda: not maps.view.is_off(1))


@pytest.mark.slow
def test_a_training_that_runs_goes_on_without_the_head(pupil: Pupil) -> None:
    pupil.begin(tiny(steps=100_000))
    pupil.trainer.start()
    pupil.wait_for_step(5)
    pupil.wait_for(lambda: len(pupil.trainer.maps.view.cards) == 2)
    first = pupil.run
    choose(pupil, 0, WITHOUT)
    pupil.wait_for(lambda: pupil.run is not first and pupil.run.step > first.step)
    assert pupil.run.spec.train.heads_off == "decoder 1.0"
    assert pupil.trainer.session.alive
    pupil.trainer.session.stop()
    pupil.wait_for(lambda: not pupil.trainer.session.alive)


@pytest.mark.slow
def test_a_head_can_be_left_out_from_the_first_step(pupil: Pupil) -> None:
    pupil.begin(tiny(steps=20))
    pupil.wait_for(lambda: len(pupil.trainer.maps.view.cards) == 2)
    choose(pupil, 0, WITHOUT)
    assert pupil.trainer.footer.message.text() == "The next run trains without decoder 1.0."
    pupil.wait_for(lambda: pupil.trainer.maps.view.is_left_out(0))
    pupil.train_to_the_end()
    assert pupil.run.spec.train.heads_off == "decoder 1.0"
    click_segment(pupil, "Model")
    page = pupil.trainer.maps.model
    pupil.wait_for(lambda: page.view.scene.find("decoder 1 attention · head 0") is not None)
    said = {head: page.view.scene.find(f"decoder 1 attention · head {head}") for head in range(2)}
    assert [each is not None and "switched off" in each.spoken for each in said.values()] == [True, False]
    heads = pupil.trainer.settings.model.control("heads")
    heads.edit.setFocus()
    heads.edit.lineEdit().selectAll()
    QTest.keyClicks(heads.edit.lineEdit(), "4")  # other heads: all of them are on
    pupil.wait_for(lambda: pupil.trainer.session.spec.model.heads == 4)
    assert pupil.trainer.session.spec.train.heads_off == ""


@pytest.mark.slow
def test_heads_are_measured_in_a_running_training_while_one_is_pointed_at(pupil: Pupil) -> None:
    pupil.begin(tiny())
    session, maps = pupil.trainer.session, pupil.trainer.maps
    pupil.trainer.start()
    pupil.wait_for(lambda: pupil.shown_step > 0 and not session.inspection.worker.has_job("heads"))
    measured: list[int] = []
    session.inspection.heads_measured.connect(lambda found, _: measured.append(found.step))
    first = pupil.run.step
    pupil.wait_for_step(first + 100)
    assert measured == []  # nobody asked
    grid, newest = maps.view.cards[1].grid, pupil.run.weights_step  # which follows the steps at some distance
    QTest.mouseMove(maps.view, QRectF(*grid.rect(0, 0, 0)).center().toPoint())
    pupil.wait_for(lambda: len(measured) >= 2)
    assert newest <= measured[0] < measured[1]
    pupil.wait_for(lambda: "without this head" in maps.told)
    QTest.mouseMove(maps.head, QPoint(5, 5))
    maps.view.leaveEvent(QEvent(QEvent.Type.Leave))
    assert not session.inspection.worth
    maps.open_map(0)
    assert session.inspection.worth  # its title says what it is worth
    maps.close_map()
    assert not session.inspection.worth
    with pupil.qtbot.waitSignal(session.ended):
        session.stop()
