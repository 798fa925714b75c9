"""The public names of attnlab, each loaded on first use: importing the package loads neither Qt nor torch."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnlab.attention.examples.presets import preset, presets
    from attnlab.attention.experiment import AttentionConfig, Experiment, Sample, Weights
    from attnlab.attention.stages.trace import Trace
    from attnlab.base.errors import AttnlabError, DeviceError, ExperimentError, FileError, UnknownPresetError
    from attnlab.compute.engine import compute
    from attnlab.files.sessions.session_file import load, save
    from attnlab.files.weights.multihead import from_multihead, to_multihead
    from attnlab.notebook.notebook_display import draw_notebook_picture as draw_notebook_picture
    from attnlab.notebook.notebook_display import figure
    from attnlab.notebook.notebook_html import write_notebook_page as write_notebook_page
    from attnlab.pretrained.capture import capture
    from attnlab.pretrained.captured import Capture
    from attnlab.pretrained.model import Model, read_model
    from attnlab.pretrained.read_weights import read_weights
    from attnlab.ui.app.view_function import view

__version__ = "0.1.0"

__all__ = [
    "AttentionConfig",
    "AttnlabError",
    "Capture",
    "DeviceError",
    "Experiment",
    "ExperimentError",
    "FileError",
    "Model",
    "Sample",
    "Trace",
    "UnknownPresetError",
    "Weights",
    "__version__",
    "capture",
    "compute",
    "figure",
    "from_multihead",
    "load",
    "preset",
    "presets",
    "read_model",
    "read_weights",
    "save",
    "to_multihead",
    "view",
]

_HOMES = {
    "AttentionConfig": "attnlab.attention.experiment",
    "AttnlabError": "attnlab.base.errors",
    "Capture": "attnlab.pretrained.captured",
    "DeviceError": "attnlab.base.errors",
    "Experiment": "attnlab.attention.experiment",
    "ExperimentError": "attnlab.base.errors",
    "FileError": "attnlab.base.errors",
    "Model": "attnlab.pretrained.model",
    "Sample": "attnlab.attention.experiment",
    "Trace": "attnlab.attention.stages.trace",
    "UnknownPresetError": "attnlab.base.errors",
    "Weights": "attnlab.attention.experiment",
    "capture": "attnlab.pretrained.capture",
    "figure": "attnlab.notebook.notebook_display",
    "from_multihead": "attnlab.files.weights.multihead",
    "load": "attnlab.files.sessions.session_file",
    "write_notebook_page": "attnlab.notebook.notebook_html",  # for _repr_html_ and _repr_png_, not for scripts
    "draw_notebook_picture": "attnlab.notebook.notebook_display",
    "preset": "attnlab.attention.examples.presets",
    "presets": "attnlab.attention.examples.presets",
    "read_model": "attnlab.pretrained.model",
    "read_weights": "attnlab.pretrained.read_weights",
    "save": "attnlab.files.sessions.session_file",
    "to_multihead": "attnlab.files.weights.multihead",
    "view": "attnlab.ui.app.view_function",
}

if not TYPE_CHECKING:  # hidden from the type checker, so that a misspelt name is still an error there

    def __getattr__(name: str) -> object:
        """Load a public name from the module that owns it, and keep it for the next time."""
        if name == "compute":  # the function replaces the subpackage of the same name
            return import_module("attnlab.compute")
        if name not in _HOMES:
            raise AttributeError(f"module 'attnlab' has no attribute {name!r}")
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
