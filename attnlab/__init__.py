"""The public names of attnlab, each loaded on first use: importing the package loads neither Qt nor torch."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnlab.attention.experiment import AttentionConfig, Experiment, Sample, Weights
    from attnlab.attention.presets import preset, presets
    from attnlab.attention.trace import Trace
    from attnlab.compute.engine import compute
    from attnlab.errors import AttnlabError, DeviceError, ExperimentError, FileError, UnknownPresetError
    from attnlab.files.multihead import from_multihead, to_multihead
    from attnlab.files.session import load, save
    from attnlab.files.weights_file import read_weights
    from attnlab.notebook_display import figure
    from attnlab.notebook_display import notebook_picture as notebook_picture
    from attnlab.notebook_html import notebook_page as notebook_page
    from attnlab.ui.view import view

__version__ = "0.1.0"

__all__ = [
    "AttentionConfig",
    "AttnlabError",
    "DeviceError",
    "Experiment",
    "ExperimentError",
    "FileError",
    "Sample",
    "Trace",
    "UnknownPresetError",
    "Weights",
    "__version__",
    "compute",
    "figure",
    "from_multihead",
    "load",
    "preset",
    "presets",
    "read_weights",
    "save",
    "to_multihead",
    "view",
]

_HOMES = {
    "AttentionConfig": "attnlab.attention.experiment",
    "AttnlabError": "attnlab.errors",
    "DeviceError": "attnlab.errors",
    "Experiment": "attnlab.attention.experiment",
    "ExperimentError": "attnlab.errors",
    "FileError": "attnlab.errors",
    "Sample": "attnlab.attention.experiment",
    "Trace": "attnlab.attention.trace",
    "UnknownPresetError": "attnlab.errors",
    "Weights": "attnlab.attention.experiment",
    "figure": "attnlab.notebook_display",
    "from_multihead": "attnlab.files.multihead",
    "load": "attnlab.files.session",
    "notebook_page": "attnlab.notebook_html",  # for _repr_html_ and _repr_png_, not for scripts
    "notebook_picture": "attnlab.notebook_display",
    "preset": "attnlab.attention.presets",
    "presets": "attnlab.attention.presets",
    "read_weights": "attnlab.files.weights_file",
    "save": "attnlab.files.session",
    "to_multihead": "attnlab.files.multihead",
    "view": "attnlab.ui.view",
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
