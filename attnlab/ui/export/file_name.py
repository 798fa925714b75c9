"""Default names for files of figures, code and films."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.document.document import Document


def make_slug(text: str) -> str:
    """Return a text as part of a file name: lower-case letters and digits, separated by hyphens."""
    return "-".join("".join(c if c.isalnum() else " " for c in text.lower()).split())


def name_state(document: "Document", e: "Experiment") -> str:
    """Return the name of a document's file or example, with the layer of a stack as the window counts it; or ""."""
    name = document.path.stem if document.path is not None else document.scene.preset or ""
    layer = f"layer-{e.layer + 1}" if e.n_layers > 1 else ""
    return "-".join(filter(None, (name, layer)))
