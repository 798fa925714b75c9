"""The masks lens: a map for each mask, and the figure of all."""

from typing import TYPE_CHECKING

import numpy as np

from attnlab.ui.export.export_dialog import ExportDialog
from attnlab.ui.playground.lenses.masks_lens import MasksLens

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.ui.conftest import Person


def lens_of(person: "Person") -> MasksLens:
    lens = person.playground.lenses.stack.currentWidget()
    assert isinstance(lens, MasksLens)
    return lens


def test_an_example_of_three_masks_opens_with_all_of_them(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("masks-source-for-target")
    lens = lens_of(person)
    assert [figure.accessibleName().split(":")[0] for figure in lens.figures] == [
        "Source by source",
        "Target by target",
        "Source for target",
    ]
    assert [label.text().split(". ")[-1] for label in lens.labels] == [
        "It hides 30 of 100 pairs.",
        "It hides 72 of 144 pairs.",
        "It hides 36 of 120 pairs.",
    ]
    figure = lens.figures[1]
    figure.grab()
    assert person.tip(figure, figure.cell_rect(2, 1).center().toPoint()) == "s' → chat: seen"
    assert person.tip(figure, figure.cell_rect(2, 3).center().toPoint()) == "s' → est: hidden"


def test_the_three_masks_are_drawn_to_one_scale(sit_down: "Callable[..., Person]") -> None:
    lens = lens_of(sit_down("masks-source-for-target"))
    cells = [figure.cell_rect(0, 0) for figure in lens.figures]
    assert len({(cell.width(), cell.height(), cell.y()) for cell in cells}) == 1


def test_the_maps_follow_the_switches(person: "Person") -> None:
    person.playground.lenses.open_lens("masks")
    lens = lens_of(person)
    assert lens.sentence.text() == "No mask is on: switch on Causal, or choose one under Mask."
    assert len(lens.figures) == 1
    person.press("Causal")
    person.settle()
    data = lens.figures[0].data
    assert data is not None
    np.testing.assert_array_equal(data.masked, ~np.tri(6, dtype=bool))
    person.undo()
    person.settle()
    assert lens.sentence.text().startswith("No mask")


def test_the_masks_are_one_figure(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("masks-source-for-target")
    person.click(lens_of(person).export)
    dialog = person.window.findChild(ExportDialog)
    assert dialog is not None
    person.qtbot.waitSignal(dialog.previewed).wait()
    assert dialog.preview.page is not None
    assert [panel.data.values.shape[1:] for _, _, panel in dialog.preview.page.panels] == [(10, 10), (12, 12), (12, 10)]
    dialog.close()
