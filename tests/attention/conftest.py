"""Fixtures of the attention tests: the printed reference figures."""

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def tables() -> dict[str, Any]:
    """Load the figures that the program must reproduce to the four decimals printed."""
    loaded: dict[str, Any] = json.loads((Path(__file__).parent / "tables.json").read_text(encoding="utf-8"))
    return loaded
