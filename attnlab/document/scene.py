"""The open scene as a value: an experiment, its title, and the device and dtype of its computation."""

from dataclasses import dataclass

from attnlab.attention.experiment import Experiment


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Scene:
    """Everything that undo restores. ``preset`` is the name of the preset it was opened from, "" for none."""

    experiment: Experiment
    title: str = "Untitled"
    preset: str = ""
    device: str = "cpu"
    dtype: str = "float32"
