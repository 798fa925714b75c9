"""The course of the heads: pattern scores as curves, the switch to other measures, and the badge of the best head."""

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from attnlab.training.look import Viewer
from attnlab.training.task_patterns import measure_patterns

if TYPE_CHECKING:
    from tests.ui.train.conftest import Student

Left = Qt.MouseButton.LeftButton


def _press(student: "Student", name: str) -> None:
    button = next(b for b in student.ws.maps.chart.switch.buttons() if b.text() == name)
    QTest.mouseClick(button, Left)


def test_the_badge_names_the_best_head_and_opens_its_map(student: "Student") -> None:
    maps, seen = student.ws.maps, student.ws.session.inspection.seen
    assert seen is not None
    found = measure_patterns("reverse", seen.look)[0]
    best = int(found.argmax())
    assert maps.chart.badge.text() == f"head {best // 4 + 1}.{best % 4}: anti-diagonal {found[best]:.2f}"
    QTest.mouseClick(maps.chart.badge, Left)
    assert maps.large_map.index == best


def test_the_switch_shows_other_patterns_and_the_entropy(student: "Student") -> None:
    card = student.ws.maps.chart
    titles = [button.text() for button in card.switch.buttons()]
    assert titles == ["Anti-diagonal", "Anti-diagonal + 1", "Previous token", "Entropy"]
    measures = np.arange(64.0).reshape(2, 4, 8)
    card.show_course(np.array([0.0, 5.0]), measures, 10.0)
    for place, name in ((2, "Anti-diagonal + 1"), (3, "Previous token"), (0, "Entropy"), (1, "Anti-diagonal")):
        _press(student, name)
        assert [line.y.tolist() for line in card.chart.lines] == measures[:, place].T.tolist()
        assert (name.lower() in card.badge.text()) == (not card.badge.isHidden()) == (place > 0)


def test_the_formula_of_a_pattern_is_in_its_tip(student: "Student") -> None:
    buttons = student.ws.maps.chart.switch.buttons()
    assert "A[k, n − 1 − k]" in buttons[0].toolTip()
    assert "A[i, i − 1]" in buttons[2].toolTip()


def test_the_measure_stays_chosen_with_another_probe(student: "Student") -> None:
    card, probe = student.ws.maps.chart, student.ws.maps.head.probe
    _press(student, "Previous token")
    probe.setFocus()
    probe.selectAll()
    QTest.keyClicks(probe, "a b c d")
    student.wait_for(lambda: (s := student.ws.maps.seen) is not None and s.probe == "a b c d")
    assert card.measure == "previous token"
    assert ": previous token 0." in card.badge.text()


@pytest.mark.slow
def test_a_probe_without_rows_for_the_pattern_says_so(student: "Student") -> None:
    ws = student.ws
    student.choose(ws.settings.task, "Masked words")
    student.wait_for(lambda: (s := ws.maps.seen) is not None and s.spec.task == "masked")
    assert "subject" in ws.maps.chart.badge.text()
    _press(student, "Verb")
    assert ws.maps.chart.badge.isHidden()
    assert ws.maps.chart.none.text() == "The pattern “verb” fits no row of this input."
    assert not ws.maps.chart.none.isHidden()


@pytest.mark.slow
def test_scores_of_every_moment_are_drawn_after_a_training(student: "Student") -> None:
    ws = student.ws
    student.small()
    student.train_to_the_end()
    run = ws.session.run
    assert run is not None
    steps = {moment.step for moment in run.recorder.moments}
    student.wait_for(lambda: steps <= {int(x) for line in ws.maps.chart.chart.lines for x in line.x})
    viewer = Viewer(run.spec)  # the worker uses its own in another thread
    moment = run.recorder.moments[len(steps) // 2]
    expected = measure_patterns("reverse", viewer.look(moment.step, moment.weights, ws.session.inspection.probe))[0]
    drawn = [float(line.y[line.x == moment.step][0]) for line in ws.maps.chart.chart.lines]
    assert drawn == expected.tolist()
