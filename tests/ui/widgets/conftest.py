"""The tables that the tests of the matrix table use."""

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from tests.ui.widgets.matrix_owner import Owner


@pytest.fixture
def owner(qtbot: QtBot) -> Owner:
    """A 4 × 3 table; rows Your, journey, starts, with."""
    return Owner(np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9], [-0.1, -0.2, -0.3]]), qtbot)


@pytest.fixture
def big(qtbot: QtBot) -> Owner:
    """A 512 × 512 table of 8 heads."""
    return Owner(np.random.default_rng(1).normal(size=(512, 512)), qtbot, group=64)
