"""Lists the views of real models for the gallery: each of the models that ship, changes, and other orders."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from attnlab.ui.app.main_window import MainWindow
from attnlab.ui.workspaces.models import MODELS
from tools.gallery_dialogs import run_action
from tools.gallery_window import Prepare, View, wait_until

if TYPE_CHECKING:
    from attnlab.ui.models.models_workspace import ModelsWorkspace
    from attnlab.ui.playground.playground import Playground


def list_views() -> Iterator[View]:
    """Yield the views that are drawn in every size."""
    yield View("models", prepare=_show())
    yield View("models-characters", prepare=_show("characters"))
    yield View("models-off", prepare=_show("hidden-words", _switch))
    yield View("models-edited", prepare=_show("hidden-words", _edit))
    yield View("models-diagram", prepare=_show("hidden-words", _draw))
    yield View("models-presented", prepare=_show("hidden-words", _draw), open=_present)
    yield View("models-sorted", prepare=_show("reverse", _sort))
    yield View("models-changes", prepare=_show("hidden-words", _sort_by_changes))
    yield View("dialog-texts", prepare=_show("hidden-words"), open=_open_texts)
    yield View("dialog-model-page", prepare=_show("characters"), open=partial(run_action, "model-export-all"))
    yield View("dialog-model-figure", prepare=_show(), open=partial(run_action, "model-export"))


def _show(name: str = "", then: "Callable[[ModelsWorkspace], object]" = lambda models: None) -> Prepare:
    def show(playground: "Playground", window: MainWindow) -> None:
        from attnlab.pretrained.shipped import list_shipped

        window.show_workspace(MODELS.name)
        models = window.workspace(MODELS)
        assert models is not None
        _wait(models)
        for each in list_shipped():
            if each.name == name:
                models.open_model(each.name, each.text)
                _wait(models)
        then(models)
        _wait(models)

    return show


def _open_texts(playground: "Playground", window: MainWindow) -> None:
    run_action("model-texts", playground, window)
    models = window.workspace(MODELS)
    assert models is not None
    wait_until(lambda: not models.busy)


def _wait(models: "ModelsWorkspace") -> None:
    wait_until(lambda: models.session.overview is not None and not models.busy)


def _switch(models: "ModelsWorkspace") -> None:
    models.toggle_shown()
    _wait(models)
    models.toggle_head(0, 1)
    models.session.show(row=7)


def _edit(models: "ModelsWorkspace") -> None:
    """Send a layer back as a person edits it in the playground: warmer, with a mask and another W_v."""
    from attnlab.attention.edits.layer_edits import configure, paint_mask
    from attnlab.pretrained.model import open_model

    state, view = models.session.state, models.session.view
    assert view.part is not None
    e = open_model(state.source).run(state.text).experiment(view.layer, view.part)
    e = configure(paint_mask(e, 0, 2, allowed=False), temperature=2.0)
    assert e.weights.W_v is not None
    e = replace(e, weights=replace(e.weights, W_v=e.weights.W_v * 0.5))
    models.session.edit("edit a layer", lambda state: state.send(view.part or "encoder", view.layer, e))
    _wait(models)
    models.toggle_shown()


def _present(playground: "Playground", window: MainWindow) -> None:
    models = window.workspace(MODELS)
    assert models is not None
    models.cards.diagram.present()


def _draw(models: "ModelsWorkspace") -> None:
    models.session.show(drawn=True)


def _sort_by_changes(models: "ModelsWorkspace") -> None:
    models.session.show(sort="changes")


def _sort(models: "ModelsWorkspace") -> None:
    models.session.show(sort="previous", values="moved")
