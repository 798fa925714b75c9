"""Inside the model: a student reads the answer after each layer, and sees what each head adds to it at a place."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from attnlab.training.first_weights import draw_first_weights
from attnlab.training.look import Viewer
from attnlab.training.specs import RunSpec
from attnlab.training.store import load
from attnlab.training.stream_view import Stream
from attnlab.ui.train.answer_words import format_share
from attnlab.ui.train.inside_page import InsidePage
from tests.ui.train.pupil import Pupil, tiny, trained
from tests.ui.train.test_model_page import click_segment

Left = Qt.MouseButton.LeftButton


def begin(pupil: Pupil, kind: str, task: str = "reverse", **sizes: int | str) -> tuple[InsidePage, RunSpec]:
    """Show the inside of an untrained model."""
    spec = tiny(task, kind=kind)
    spec = replace(spec, model=replace(spec.model, **sizes))  # type: ignore[arg-type]
    pupil.begin(spec)
    page, inspection = pupil.trainer.maps.inside, pupil.trainer.session.inspection
    click_segment(pupil, "Inside")
    pupil.wait_for(lambda: inspection.seen is not None and inspection.seen.spec.model == spec.model)
    pupil.wait_for(lambda: inspection.seen is not None and inspection.seen.stream is page.stream is not None)
    pupil.window.grab()
    return page, spec


def compute(pupil: Pupil, spec: RunSpec) -> Stream:
    """Return the residual stream of the first weights for the probe on screen."""
    return Viewer(spec).read_stream(draw_first_weights(spec), pupil.trainer.maps.head.probe.text())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "task"), [("decoder", "reverse"), ("encoder", "masked"), ("encoder-decoder", "dates")]
)
def test_each_column_has_a_line_for_each_layer_and_the_bars_sum_to_the_logit(
    pupil: Pupil, kind: str, task: str
) -> None:
    page, spec = begin(pupil, kind, task, layers=2)
    right = compute(pupil, spec)
    columns = page.table.columns
    side = "encoder" if kind == "encoder" else "decoder"
    assert columns.columns[0].stages == ("embedding", f"after {side} 1", f"after {side} 2")
    assert len(columns.columns) == len(right.tokens) > 1
    for at, column in enumerate(columns.columns):
        assert [bar.text for bar in column.bars] == [format_share(stage.chances[at]) for stage in right.stages]
        assert [bar.label for bar in column.bars] == [
            stage.places[at].likeliest[0][0].replace(" ", "␣") for stage in right.stages
        ]
        assert f"{column.stages[1]} " in columns.name_cell(at)
    place = len(right.tokens) - 1
    QTest.mouseClick(columns.viewport(), Left, pos=columns.column_rect(1).center())
    assert page.chosen == 1
    QTest.keyClick(columns, Qt.Key.Key_End)
    assert page.chosen == place
    assert f"the logit of {right.tokens[place]}, " in page.sum.text()
    assert f" is {right.logits[place]:.2f}".replace("-", "−") in page.sum.text()
    shown = [page.bars.row_text(row) for row in range(page.bars.count_cells())]
    values = [float(text.replace("−", "-")) for text in shown]
    np.testing.assert_allclose(values, right.added[:, place], atol=6e-5)
    assert sum(values) == pytest.approx(right.logits[place], abs=2e-3)
    assert page.bars.name_cell(1).startswith(f"What each part adds, {side} 1 · head 0, adds ")


def test_the_page_follows_the_time_line_and_the_probe_and_keeps_the_place(pupil: Pupil) -> None:
    page, _ = begin(pupil, "decoder")
    QTest.mouseClick(page.table.columns.viewport(), Left, pos=page.table.columns.column_rect(2).center())
    before = page.stream
    pupil.trainer.start()
    pupil.wait_for_step(30)
    pupil.trainer.session.pause()
    pupil.wait_for(lambda: pupil.trainer.session.state == "paused")
    pupil.wait_for(lambda: pupil.shown_step == pupil.run.weights_step)
    pupil.wait_for(lambda: not page.is_behind)
    seen = pupil.trainer.session.inspection.seen
    assert seen is not None
    assert page.stream is seen.stream is not before  # the last one of many
    assert page.chosen == 2
    maps = pupil.trainer.maps
    maps.head.focus_probe()
    QTest.keyClicks(maps.head.probe, "a b")
    pupil.wait_for(lambda: page.stream is not None and len(page.stream.tokens) == 3)
    assert [column.wanted for column in page.table.columns.columns] == ["b", "a", "⟩"]
    assert maps.inside.isVisible()
    assert pupil.trainer.side.isVisible()  # the curves stay
    assert not maps.answer.isVisible()


@pytest.mark.slow
def test_a_bar_of_a_head_opens_its_map_and_escape_returns(pupil: Pupil) -> None:
    page, _ = begin(pupil, "encoder-decoder")
    maps = pupil.trainer.maps
    names = [page.bars.name_cell(row) for row in range(page.bars.count_cells())]
    row = next(at for at, name in enumerate(names) if "cross 1 · head 1" in name)
    page.ensureVisible(0, page.bars.y() + page.bars.row_rect(row).center().y())
    QTest.mouseClick(page.bars.viewport(), Left, pos=page.bars.row_rect(row).center())
    assert maps.large_map.index is not None
    assert maps.view.titles[maps.large_map.index] == "Cross 1 · head 1"
    QTest.keyClick(maps.large_map.sheet, Qt.Key.Key_Escape)
    assert maps.stack.currentWidget() is page
    QTest.mouseClick(page.bars.viewport(), Left, pos=page.bars.row_rect(0).center())
    assert maps.large_map.index is None  # the embedding has no map


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "task", "says"), [("luong", "reverse", "recurrent"), ("attention", "sum", "numbers")])
def test_a_model_without_a_residual_stream_says_so(pupil: Pupil, kind: str, task: str, says: str) -> None:
    page, _ = begin(pupil, kind, task, **({"d_model": 16, "layers": 1} if kind == "luong" else sizes_of_sum()))
    assert page.missing.isVisible()
    assert says in page.missing.text()
    assert not any(card.isVisible() for card in page.cards)


def sizes_of_sum() -> dict[str, int | str]:
    from attnlab.training.tasks import make_spec

    model = make_spec("sum").model
    return {"d_model": model.d_model, "heads": model.heads}


def choose_command(pupil: Pupil, title: str) -> None:
    """Choose a command in the palette, as typed there."""
    QTest.keySequence(pupil.window, QKeySequence("Ctrl+K"))
    field = QApplication.focusWidget()
    assert field is not None
    QTest.keyClicks(field, title)
    QTest.keyClick(field, Qt.Key.Key_Return)


@pytest.mark.slow
def test_the_palette_opens_the_page_and_closes_it(pupil: Pupil) -> None:
    pupil.begin(tiny(kind="decoder"))
    maps = pupil.trainer.maps
    choose_command(pupil, "Look inside the model")
    assert maps.page == "inside"
    pupil.wait_for(lambda: maps.inside.stream is not None)
    choose_command(pupil, "Look inside the model")
    assert maps.page == "maps"
    assert maps.stack.currentWidget() is maps.overview


@pytest.mark.slow
def test_two_runs_side_by_side_show_the_same_place(pupil: Pupil) -> None:
    folder = trained(pupil, 1)
    trained(pupil, 2)
    comparing = pupil.tools.comparing
    comparing.compare(folder)
    pupil.wait_for(lambda: comparing.second is not None and comparing.second.seen is not None)
    second = comparing.second
    assert second is not None
    click_segment(pupil, "Inside")
    page = pupil.trainer.maps.inside
    pupil.wait_for(lambda: second.inside.stream is not None and page.stream is not None)
    pupil.window.grab()
    QTest.mouseClick(page.table.columns.viewport(), Left, pos=page.table.columns.column_rect(1).center())
    assert second.inside.chosen == page.chosen == 1
    assert second.inside.sum.text() != page.sum.text()


@pytest.mark.slow
def test_the_norms_of_gradients_grow_with_the_run_and_are_read_from_disk(pupil: Pupil) -> None:
    trained(pupil, 1)
    curves, run = pupil.trainer.curves, pupil.run
    QTest.mouseClick(curves.switch.buttons()[1], Left)
    assert curves.gradient_legend.names == ["embedding", "decoder 1", "output"]
    shown = {line.name: line for line in curves.gradients.lines}
    for at, metric in enumerate(run.metrics):
        for name, norm in metric.gradients:
            assert shown[name].y[at] == norm > 0
    assert [metric.step for metric in run.metrics if metric.gradients] == [20, 30]
    folder = pupil.tools.keeper.find_folder(run)
    assert folder is not None
    assert load(folder).metrics == run.metrics
