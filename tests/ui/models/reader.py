"""The reader of a model: a person at the workspace of models, with the models that ship."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from attnlab.pretrained.model import read_model
from attnlab.ui.models.models_workspace import ModelsWorkspace
from attnlab.ui.workspaces.models import MODELS
from tests.ui.conftest import Person


class ModelReader(Person):
    """A person at the workspace of models."""

    @property
    def models(self) -> ModelsWorkspace:
        found = self.window.workspace(MODELS)
        assert found is not None
        return found

    def wait(self) -> None:
        """Wait until everything is computed and shown."""
        session = self.models.session
        self.wait_for(lambda: not session.busy and session.overview is not None)

    def open(self, source: str = "induction", text: str = "c a d b f e c a d") -> None:
        """Open a model; the workspace begins with the first one."""
        self.window.show_workspace(MODELS.name)
        self.wait()
        self.models.open_model(source, text)
        self.wait()

    @property
    def place(self) -> tuple[int, int]:
        """The layer and the head that are looked at."""
        return self.models.session.view.layer, self.models.session.view.head

    def in_map(self) -> NDArray[np.floating]:
        """Return the numbers of the head's map."""
        data = self.models.head.sheet.data
        assert data is not None
        return data.values[0]

    def check_every_map(self) -> None:
        """Compare everything shown with the model, read and run again."""
        session, state = self.models.session, self.models.session.state
        model = read_model(state.source)
        run = model.run(state.text, heads_off=state.list_off(heads=True), pairs_off=state.list_off(heads=False))
        layer, head = self.place
        np.testing.assert_array_equal(self.in_map(), run.attention(layer, session.view.part)[head].numpy())
        data = self.models.overview.data
        assert data is not None
        assert session.overview is not None
        for place, (i, j) in enumerate(self.models.places):
            np.testing.assert_array_equal(data.values[place], run.attention(i, session.view.part)[j].numpy())

    def list_predictions(self) -> list[tuple[str, str]]:
        """Return the tokens and the probabilities as they are written."""
        return [(each.label, each.text) for each in self.models.effect.answers.meters]


@pytest.fixture
def reader(sit_down: Callable[..., Person]) -> ModelReader:
    """A person who has opened the induction model."""
    person = sit_down("journey")
    found = ModelReader(person.window, person.qtbot)
    found.open()
    return found
