"""The small models that come with attnlab: runs of ``attnlab train``, so that learned attention is seen at once."""

import json
from pathlib import Path
from typing import NamedTuple

from attnlab.base import assets


class Shipped(NamedTuple):
    """A model that ships: what it has learned, a text that shows it, and the command that trained it."""

    name: str
    about: str
    text: str
    command: str


def list_shipped() -> tuple[Shipped, ...]:
    """Return the models that ship; :func:`attnlab.read_model` takes their names."""
    return tuple(Shipped(**entry) for entry in json.loads(assets.read_text("models/models.json")))


def find_shipped(name: str) -> Path | None:
    """Return the folder of a model that ships, None if none has this name."""
    if name not in {each.name for each in list_shipped()}:
        return None
    return assets.path(f"models/{name}/run.json").parent
