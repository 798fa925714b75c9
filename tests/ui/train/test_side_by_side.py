"""Two runs side by side: the same probe, the same step, one time line."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu, QToolButton

from attnlab.training.look import Viewer
from attnlab.training.models import KINDS
from attnlab.training.task_patterns import measure_patterns
from attnlab.training.tasks import TASKS
from attnlab.ui.train.second_run import SecondRun
from tests.ui.train.pupil import Pupil, tiny, trained


@pytest.mark.slow
def test_a_second_run_shows_its_own_maps_at_the_selected_step(pupil: Pupil) -> None:
    spec = tiny(steps=30)
    pupil.begin(spec)
    pupil.train_to_the_end()
    first, folder = pupil.run, pupil.tools.keeper.find_folder(pupil.run)
    assert folder is not None
    pupil.begin(replace(spec, train=replace(spec.train, seed=1)))
    pupil.train_to_the_end()
    pupil.wait_for(lambda: folder in pupil.tools.runs.rows)
    widths = pupil.trainer.body.sizes()
    widths = [widths[0] + 40, widths[1] - 60, widths[2] + 20]
    pupil.trainer.body.setSizes(widths)  # as by a drag
    pupil.tools.runs.compare_requested.emit(folder)
    comparing = pupil.tools.comparing
    pupil.wait_for(lambda: comparing.second is not None and comparing.second.seen is not None)
    second: SecondRun | None = comparing.second
    assert second is not None
    first_head = comparing.first
    assert first_head is not None
    assert second.title.text().startswith("Reverse · seed 0 · ")
    assert first_head.title.text().startswith("Reverse · seed 1 · ")
    assert second.title.text().endswith(" · GPT-style decoder")
    tops = [head.mapTo(pupil.window, QPoint()).y() for head in (first_head, second.head)]
    assert tops[0] == tops[1]
    moments = pupil.run.recorder.moments
    index = len(moments) // 2
    pupil.trainer.footer.line.moment_chosen.emit(index)
    nearest = first.recorder.find_nearest(moments[index].step)
    assert nearest is not None
    pupil.wait_for(lambda: pupil.shown_step == moments[index].step and second.step.text() == f"step {nearest.step:,}")
    assert second.seen is not None
    own = Viewer(first.spec).look(nearest.step, nearest.weights, second.seen.probe)
    for data, weights in zip(second.view.data, own.maps[0].weights, strict=True):
        np.testing.assert_allclose(data.values[0], weights, atol=1e-6)
    places = [[(card.layer, card.head) for card in view.cards] for view in (second.view, pupil.trainer.maps.view)]
    assert places[0] == places[1] != []
    assert first_head.step.text() == f"step {moments[index].step:,}"
    for size in ((1440, 900), (1280, 800), (720, 480)):
        pupil.window.resize(*size)
        pupil.wait_for(lambda: level(pupil))
    mine, theirs = pupil.trainer.maps.answer, second.answer
    assert mine.height() == theirs.height()
    assert [place.wanted for place in theirs.columns.columns] == [place.wanted for place in mine.columns.columns] != []
    pupil.window.resize(1440, 900)
    pupil.wait_for(lambda: not mine.is_folded and level(pupil))
    pupil.click(theirs.reads.buttons()[1])
    assert (mine.mode, theirs.mode) == ("own", "own")
    assert theirs.sentence.text().startswith("Writes ")
    pupil.window.resize(1024, 760)
    pupil.window.change_settings(type_size=175)
    pupil.wait_for(lambda: mine.is_folded and theirs.is_folded and level(pupil))
    pupil.click(theirs.fold_button)
    assert not mine.is_folded
    pupil.wait_for(lambda: level(pupil) and mine.height() == theirs.height())
    pupil.window.change_settings(type_size=100)
    pupil.window.resize(1440, 900)
    assert second.mapTo(pupil.window, QPoint()).x() > pupil.trainer.maps.mapTo(pupil.window, QPoint()).x()
    assert not pupil.trainer.maps.head.step.isVisible()  # the header above has it
    pupil.click(pupil.find(QToolButton, "Close the second run"))
    assert comparing.second is None
    assert mine.minimumHeight() == 0
    assert pupil.trainer.body.sizes() == widths
    assert pupil.trainer.settings.isVisible()
    assert pupil.trainer.maps.head.step.isVisible()


@pytest.mark.slow
def test_another_second_run_replaces_the_first_and_the_window_closes(pupil: Pupil) -> None:
    folders = [trained(pupil, seed) for seed in (0, 1)]
    pupil.begin(tiny(steps=30))
    comparing, maps = pupil.tools.comparing, pupil.trainer.maps
    alone = pupil.trainer.body.count()
    heights = []
    for folder in folders:
        before = comparing.second
        comparing.compare(folder)
        pupil.wait_for(lambda before=before: comparing.second not in (None, before))  # type: ignore[misc]
        second = comparing.second
        assert second is not None
        pupil.wait_for(lambda second=second: second.seen is not None)  # type: ignore[misc]
        heights.append(second.under.height())
    assert heights[0] == heights[1] == maps.head.height()
    assert [type(part) for part in pupil.trainer.body.findChildren(SecondRun)] == [SecondRun]
    assert len(pupil.trainer.body.sizes()) == pupil.trainer.body.indexOf(maps) + 3
    pupil.window.close()
    assert comparing.second is None
    assert pupil.trainer.body.count() == alone  # at once, not when the event loop deletes it
    maps.head.height()  # is still there


@pytest.mark.slow
def test_a_second_run_shows_the_course_of_its_own_heads(pupil: Pupil) -> None:
    folder = trained(pupil, 1)
    pupil.begin(tiny(steps=30))
    pupil.train_to_the_end()
    comparing, maps = pupil.tools.comparing, pupil.trainer.maps
    maps.chart.choose("previous token")
    comparing.compare(folder)
    pupil.wait_for(lambda: comparing.second is not None and comparing.second.seen is not None)
    second = comparing.second
    assert second is not None
    steps = {moment.step for moment in second.run.recorder.moments}
    pupil.wait_for(lambda: steps <= {int(x) for line in second.chart.chart.lines for x in line.x})
    assert second.chart.measure == "previous token"  # as in the first
    moment, viewer = second.run.recorder.moments[1], Viewer(second.run.spec)
    look = viewer.look(moment.step, moment.weights, pupil.trainer.session.inspection.probe)
    assert second.seen is not None
    names = [pattern.name for pattern in second.seen.patterns]
    expected = measure_patterns("reverse", look)[names.index("previous token")]
    drawn = [float(line.y[line.x == moment.step][0]) for line in second.chart.chart.lines]
    assert drawn == expected.tolist()
    pupil.click(next(b for b in second.chart.switch.buttons() if b.text() == "Entropy"))
    assert maps.chart.measure == "entropy"
    assert second.chart.chart.cursor_x is None  # the last moment
    second.chart.chart.x_chosen.emit(0.0)  # the only other one that every run records, whatever its pace
    pupil.wait_for(lambda: (pupil.shown_step, second.step.text()) == (0, "step 0"))
    assert second.chart.chart.cursor_x == 0
    pupil.click(pupil.find(QToolButton, "Close the second run"))


def level(pupil: Pupil) -> bool:
    """Whether the maps of both begin at the same height and are equally wide."""
    mine, second = pupil.trainer.maps.view, pupil.tools.comparing.second
    assert second is not None
    tops = [view.mapTo(pupil.window, QPoint()).y() for view in (mine, second.view)]
    return tops[0] == tops[1] and abs(second.view.width() - mine.width()) <= 1


@pytest.mark.slow
def test_the_curves_are_as_wide_after_the_model_as_before(pupil: Pupil) -> None:
    pupil.begin(tiny(steps=30))
    maps, body, comparing = pupil.trainer.maps, pupil.trainer.body, pupil.tools.comparing
    pupil.trainer.settings.task.setFocus()
    comparing.compare_kind("encoder")
    pupil.wait_for(lambda: comparing.second is not None and comparing.second.seen is not None)
    assert pupil.window.focusWidget() is maps.view  # no button of the time line
    pupil.wait_for(lambda: len(set(body.sizes()[1:3])) == 1)
    before = body.sizes()
    assert before[-1] > 300
    for page in ("inside", "maps"):
        maps.show_page("model")
        pupil.wait_for(lambda: body.sizes()[-1] == 0 and abs(body.sizes()[1] - body.sizes()[2]) <= 1)
        maps.show_page(page)
        pupil.settle()
        assert body.sizes() == pytest.approx(before, abs=1)


@pytest.mark.slow
def test_an_encoder_stands_beside_a_decoder_before_either_is_trained(pupil: Pupil) -> None:
    pupil.begin(tiny(steps=30))
    maps = pupil.trainer.maps
    maps.show_page("model")
    pupil.wait_for(lambda: maps.model.seen is not None)
    pupil.window.actions_list["train-beside"].trigger()
    menu = maps.head.findChild(QMenu)
    assert menu is not None
    titles = [each.text() for each in menu.actions()]
    assert "GPT-style decoder, untrained" not in titles
    assert len(titles) == len(TASKS["reverse"].kinds) - 1
    next(each for each in menu.actions() if each.text() == f"{KINDS['encoder'].title}, untrained").trigger()
    menu.close()
    comparing = pupil.tools.comparing
    pupil.wait_for(lambda: comparing.second is not None and comparing.second.model.seen is not None)
    second = comparing.second
    assert second is not None
    assert second.title.text() == f"Untrained · seed 0 · {KINDS['encoder'].title}"
    assert second.step.text() == "step 0"
    mine, theirs = maps.model.seen, second.model.seen
    assert mine is not None
    assert theirs is not None
    assert mine.probe == theirs.probe
    hidden = [
        [each.hidden is not None and bool(each.hidden.any()) for each in seen.look.maps] for seen in (mine, theirs)
    ]
    assert all(hidden[0])
    assert not any(hidden[1])
    assert (theirs.spec.model.d_model, theirs.spec.model.heads) == (16, 2)  # the same sizes
    pupil.window.resize(1024, 640)
    mine_bar, their_bar = (each.area.verticalScrollBar() for each in (maps.model, second.model))
    pupil.wait_for(lambda: min(mine_bar.maximum(), their_bar.maximum()) > 100)
    for one, other in ((mine_bar, their_bar), (their_bar, mine_bar)):
        one.setValue(60)
        assert other.value() == 60
        one.setValue(one.maximum())
        assert one.value() == one.maximum()  # the other may be shorter
        assert other.value() == min(other.maximum(), one.value())
    second.close_button.click()
    assert comparing.second is None


@pytest.mark.slow
def test_both_runs_begin_with_their_first_maps_wherever_the_first_was_scrolled_to(pupil: Pupil) -> None:
    other = trained(pupil, 0)
    trained(pupil, 1)
    pupil.window.resize(900, 600)  # the curves are below the maps
    bar = pupil.trainer.maps.overview.verticalScrollBar()
    pupil.wait_for(lambda: bar.maximum() > 0)
    bar.setValue(bar.maximum())
    pupil.tools.runs.compare_requested.emit(other)
    comparing = pupil.tools.comparing
    pupil.wait_for(lambda: comparing.second is not None and comparing.second.seen is not None)
    assert comparing.second is not None
    assert bar.value() == comparing.second.area.verticalScrollBar().value() == 0
