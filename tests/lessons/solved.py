"""Worked solutions of the presets, each written once for all tests that read it."""

from collections.abc import Callable
from functools import cache

import attnlab
from attnlab.attention.stages.trace import Trace
from attnlab.lessons.exercise import trace_exactly
from attnlab.lessons.solution import write_markdown


@cache
def solve(preset: str, write: Callable[[Trace], str] = write_markdown) -> str:
    """Return the worked solution of a preset, in Markdown unless another function writes it."""
    return write(trace_exactly(attnlab.preset(preset)))
