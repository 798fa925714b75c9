"""What is open, as a value: an experiment, its title, and where and in what it is computed."""

from dataclasses import dataclass

from attnlab.attention.experiment import Experiment


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Scene:
    """Everything that undo brings back. ``preset`` is the preset it began as, "" for none."""

    experiment: Experiment
    title: str = "Untitled"
    preset: str = ""
    device: str = "cpu"
    dtype: str = "float32"
