"""Runs generated scripts and notebooks, which print every tensor: torch writes one longer than it computes it."""

from collections.abc import Iterable
from typing import Any

import torch

_OPTIONS = ("precision", "threshold", "edgeitems", "linewidth", "sci_mode")


def run(*sources: str) -> tuple[dict[str, Any], str]:
    """Run pieces of code in order; return their variables, and what they print, a tensor as … alone."""
    printed: list[str] = []

    def note(*parts: object) -> None:
        printed.append(" ".join("…" if isinstance(part, torch.Tensor) else str(part) for part in parts) + "\n")

    names = run_aloud(sources, {"print": note})
    return names, "".join(printed)


def run_aloud(sources: Iterable[str], names: dict[str, Any]) -> dict[str, Any]:
    """Run pieces of code in order with given variables, and return all; torch prints afterwards as it did before."""
    before = {option: getattr(torch._tensor_str.PRINT_OPTS, option) for option in _OPTIONS}
    try:
        for source in sources:
            exec(compile(source, "script.py", "exec"), names)
    finally:
        torch.set_printoptions(**before)
    return names
