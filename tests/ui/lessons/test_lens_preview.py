"""The slide in the lesson editor shows the lens of its step, as the class will see it."""

from typing import TYPE_CHECKING

import pytest

from attnlab.figures.slides.lens_content import Plane
from attnlab.lessons.parse import parse
from attnlab.ui.present.lens_sheet import find_largest_zoom
from attnlab.ui.workspaces.lessons import LESSONS

if TYPE_CHECKING:
    from attnlab.ui.lessons.step_preview import Preview
    from tests.ui.conftest import Person

STEP = "## {0}\n\n```state\npreset: journey\n{1}\n```\n\nSee?\n\n"


def preview_of(person: "Person", *lenses: str) -> "Preview":
    """Return the preview of the editor, which edits a lesson with one step for each lens."""
    controller = person.window.workspace(LESSONS)
    assert controller is not None
    text = "".join(STEP.format(lens or "map", f"lens: {lens}" if lens else "stage: weights") for lens in lenses)
    controller.drafts.edit(parse(f"---\ntitle: Lenses\n---\n\n{text}", "lenses"))
    assert controller.workspace is not None
    return controller.workspace.editor.preview


def choose(person: "Person", index: int) -> None:
    controller = person.window.workspace(LESSONS)
    assert controller is not None
    assert controller.drafts.draft is not None
    controller.drafts.draft.choose(index)


def test_a_lens_with_a_picture_is_drawn_on_the_slide(person: "Person") -> None:
    view = preview_of(person, "arrows").picture
    person.wait_for(lambda: view.content is not None and isinstance(view.content.picture, Plane))
    assert view.content is not None
    assert view.content.main is None
    assert view.drawn.left_out == ()


def test_a_lens_without_a_picture_stands_above_the_slide_in_its_scale(person: "Person") -> None:
    preview = preview_of(person, "goal", "")
    view, lens = preview.picture, preview.lens
    person.wait_for(lambda: lens.sheet is not None and lens.sheet.isVisible())
    assert lens.sheet is not None
    assert view.rect().contains(lens.sheet.geometry())
    assert view.drawn.side is not None
    shrunk = view.height() / view.drawn_height
    assert lens.sheet.width() == pytest.approx(view.drawn.side.width * shrunk, abs=1)
    zoom = find_largest_zoom(view.drawn.side, view.sheet.body)
    assert shrunk <= lens.sheet.transform().m11() <= shrunk * zoom < 1
    choose(person, 1)
    person.wait_for(lambda: view.content is not None and view.content.main is not None)
    assert not lens.sheet.isVisible()


def test_a_lens_whose_library_is_missing_leaves_the_map(person: "Person", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnlab.ui.present.lens_sheet.LensSheet.open", lambda *_: False)
    preview = preview_of(person, "goal")
    person.wait_for(lambda: preview.picture.content is not None and preview.picture.content.main is not None)
    assert preview.lens.sheet is not None
    assert not preview.lens.sheet.isVisible()
