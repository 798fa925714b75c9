"""The table of worked examples by name, each made with its own random generator."""

from itertools import chain
from reprlib import repr

from attnlab.attention.examples.block_examples import BLOCKS
from attnlab.attention.examples.example import Preset, draw_experiment
from attnlab.attention.examples.head_examples import HEADS
from attnlab.attention.examples.mask_examples import MASKS
from attnlab.attention.examples.position_examples import POSITIONS
from attnlab.attention.examples.sentence_examples import SENTENCES
from attnlab.attention.examples.source_examples import SOURCES
from attnlab.attention.examples.step_examples import STEPS
from attnlab.attention.examples.weight_examples import WEIGHTS
from attnlab.attention.experiment import Experiment
from attnlab.base.arguments import explain_calls
from attnlab.base.errors import UnknownPresetError
from attnlab.base.near_names import find_near

__all__ = ["PRESETS", "Preset", "draw_experiment", "find_preset", "preset", "presets"]

PRESETS: dict[str, Preset] = {
    preset.name: preset for preset in chain(STEPS, MASKS, HEADS, SOURCES, POSITIONS, WEIGHTS, SENTENCES, BLOCKS)
}


@explain_calls
def presets() -> tuple[str, ...]:
    """Return the names of the presets."""
    return tuple(PRESETS)


def find_preset(name: str) -> Preset:
    """Return the worked example with that name, in upper or lower case.

    Raises:
        UnknownPresetError: there is none; the sentence names the nearest one and the command that lists all.
    """
    if not isinstance(name, str):
        raise UnknownPresetError(f"name is {repr(name)}; a preset's name is a string, such as 'journey'.")
    found = PRESETS.get(name.lower())
    if found is None:
        near = find_near(name.lower(), PRESETS, cutoff=0.8)  # "nope" should not suggest "rope"
        hint = f"did you mean {near}? The command attnlab presets" if near else "journey is one; attnlab presets"
        raise UnknownPresetError(f"There is no preset {name!r}; {hint} lists all {len(PRESETS)}.")
    return found


@explain_calls
def preset(name: str) -> Experiment:
    """Return the preset with that name, in upper or lower case.

    Raises:
        UnknownPresetError: there is none; the sentence names the nearest one.
    """
    return find_preset(name).make()
