"""A sweep: an experiment with one number or switch, named as in lessons, at a series of values."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from attnlab.attention import edits
from attnlab.attention.registries import registry
from attnlab.attention.registries.masks import MASKS
from attnlab.base.errors import AttnlabError, ExperimentError
from attnlab.lessons.lesson import Edit
from attnlab.lessons.state import apply_edit

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

MOST_FRAMES = 2000
_SIZES = ("n_heads", "n_kv_heads", "T", "T_k", "d_model", "d_k", "d_v", "d_memory", "seed", "item", "valid", "ablate")
_SWITCHES = {"on": True, "true": True, "off": False, "false": False}
_MOST_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Sweep:
    """The swept setting, named as in lessons (``temperature``, ``W_q[0, 0]``), and its value in each frame."""

    key: str
    values: tuple[object, ...]

    def at(self, e: "Experiment", frame: int) -> "Experiment":
        """Return the experiment of a frame.

        Raises:
            AttnlabError: the value is invalid; the sentence begins with it.
        """
        try:
            return apply_edit(e, Edit(self.key, self.values[frame]))
        except AttnlabError as error:
            raise ExperimentError(f"At {self.text(frame)}: {error}") from None

    def text(self, frame: int) -> str:
        """Return the caption of a frame; its numbers have enough decimals to differ from those of other frames."""
        value = self.values[frame]
        if isinstance(value, bool):
            return f"{self.key} {'on' if value else 'off'}"
        if not isinstance(value, int | float):
            return f"{self.key} = {value}"
        numbers = [float(each) for each in self.values if isinstance(each, int | float)]
        return f"{self.key} = {value:.{_count_decimals(numbers)}f}".replace("-", "−")

    def there_and_back(self) -> "Sweep":
        """Return the sweep followed by its reverse, so that the film can loop without a jump."""
        return Sweep(self.key, (*self.values, *self.values[-2:0:-1]))


def make_sweep(e: "Experiment", key: str, start: object, stop: object, frames: int) -> Sweep:
    """Return a sweep from one value to another in equal steps.

    Whole numbers go in steps of one and skip invalid values (3 heads of 8 columns). They, and the two values of a
    switch or a choice, are shown for equal numbers of frames.

    Raises:
        AttnlabError: the name is unknown, an end is invalid, or there are too few or too many frames.
    """
    key = key.strip()
    if not 2 <= frames <= MOST_FRAMES:
        raise ExperimentError(f"A sweep cannot have {frames} frames; it needs 2 to {MOST_FRAMES}.")
    ends = Sweep(key, (start, stop))
    for end in (0, 1):
        ends.at(e, end)
    if not (_is_number(start) and _is_number(stop)):
        return Sweep(key, _share_out([start, stop], frames))
    first, last = float(start), float(stop)  # type: ignore[arg-type]
    if first == last:
        raise ExperimentError(f"{key} is {start} at both ends; a sweep needs two different values.")
    line = [first + (last - first) * i / (frames - 1) for i in range(frames - 1)] + [last]
    if not (is_whole(key) and isinstance(start, int) and isinstance(stop, int)):
        return Sweep(key, tuple(line))
    between = range(start, stop, 1 if stop > start else -1) if abs(stop - start) < frames else map(round, line)
    return Sweep(key, _share_out([each for each in (*between, stop) if _is_valid(e, key, each)], frames))


def parse_value(text: str) -> object:
    """Return a typed value: a switch, a number (also with a true minus sign), or else the text itself."""
    text = text.strip()
    if text.lower() in _SWITCHES:
        return _SWITCHES[text.lower()]
    for kind in (int, float):
        try:
            number = kind(text.replace("−", "-"))
        except ValueError:
            continue
        if math.isfinite(number):
            return number
    return text


def is_whole(key: str) -> bool:
    """Return whether a setting takes only whole numbers."""
    option = registry.all_options().get(key)
    return key in (*_SIZES, *registry.free_axes(), *MASKS) or (option is not None and option.kind == "whole")


def suggest_sweeps(e: "Experiment") -> dict[str, tuple[object, object]]:
    """Return settings of an experiment that are good to sweep, each with two valid ends, the most useful first."""
    found: dict[str, tuple[object, object]] = {}
    options = [option for entry in registry.list_entries(e.config) for option in entry.options]
    for option in options:
        if option.kind == "number":
            low = option.least if math.isfinite(option.least) else -4.0
            found[option.name] = (
                0.1 if option.above and low == 0 else low,
                min(option.most, max(4 * option.default, 4)),
            )
    found |= {"scale": (0.5, 4.0), "causal": (False, True), "window": (1, max(e.T_q, 2))}
    heads = [n for n in range(1, 65) if _is_valid(e, "n_heads", n)]
    if len(heads) > 1:
        found["n_heads"] = (heads[0], heads[-1])
    found["d_k"] = (1, max(2 * e.d_k, 4))
    found |= {option.name: (False, True) for option in options if option.kind == "switch"}
    found |= {f"{name}[0, 0]": (-2.0, 2.0) for name in edits.tables(e)}
    return {key: ends for key, ends in found.items() if all(_is_valid(e, key, end) for end in ends)}


def _share_out(values: list[object], frames: int) -> tuple[object, ...]:
    frames = max(frames, len(values))
    return tuple(values[i * len(values) // frames] for i in range(frames))


def _is_valid(e: "Experiment", key: str, value: object) -> bool:
    try:
        apply_edit(e, Edit(key, value))
    except AttnlabError:
        return False
    return True


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _count_decimals(numbers: list[float]) -> int:
    """Return the number of decimals with which the numbers differ and are exact to a twentieth of a step."""
    steps = [abs(b - a) for a, b in pairwise(numbers) if a != b]
    near = min(steps, default=1.0) / 20
    for decimals in range(_MOST_DECIMALS):
        if all(abs(round(each, decimals) - each) <= near for each in numbers):
            return decimals
    return _MOST_DECIMALS
