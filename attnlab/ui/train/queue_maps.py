"""Computes one map of each run of a queue at the same step, for the same probe: used by a worker, without widgets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from attnlab.training.messages import Arrays
from attnlab.training.specs import RunSpec

if TYPE_CHECKING:
    from attnlab.training.look import LayerMaps, Viewer


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """The map of a run: its name, its settings, a moment's step and weights, and the short name of the head.

    ``told`` names the step where it is not the one that is asked for.
    """

    name: str
    spec: RunSpec
    step: int
    weights: Arrays
    head: str
    told: str = ""


class QueueMaps:
    """Keeps the models of the runs; belongs to one thread."""

    def __init__(self) -> None:
        self._viewers: dict[str, Viewer] = {}

    @staticmethod
    def prepare() -> None:
        """Set torch to one thread: more would repeatedly wait for the training process."""
        import torch

        torch.set_num_threads(1)

    def look(self, wanted: Sequence[Wanted], probe: str) -> "tuple[LayerMaps, ...]":
        """Return the map of each run, named after the run and its head; runs without that head have none.

        Raises:
            TrainingError: the task cannot read the probe.
        """
        from attnlab.training.look import Viewer
        from attnlab.training.task_patterns import name_heads

        found = []
        for each in wanted:
            if each.name not in self._viewers:
                self._viewers[each.name] = Viewer(each.spec)
            viewer = self._viewers[each.name]
            maps = viewer.look(each.step, each.weights, probe or viewer.data.probe_text).maps
            places = [(layer, head) for layer in maps for head in range(len(layer.weights))]
            for (layer, head), name in zip(places, name_heads(maps), strict=True):
                if name == each.head:
                    title = " · ".join(filter(None, (each.name, name, each.told)))
                    found.append(replace(layer, layer=title, weights=layer.weights[head : head + 1]))
        return tuple(found)
