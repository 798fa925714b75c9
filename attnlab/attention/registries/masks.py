"""The registry of masks, which hide keys from queries. All active masks combine."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from attnlab.attention.layer import Layer
from attnlab.attention.registries.entries import Entry, Option


@dataclass(frozen=True, slots=True, kw_only=True)
class Mask(Entry):
    """One mask with at most one option, its number ``n`` (0 for a mask without option).

    ``hides(i [T_q, 1], j [1, T_k], n)`` is True where query i may not attend to key j. ``opens``, with the same
    arguments, is True where this mask overrides the causal mask. ``code`` is a PyTorch expression for the allowed
    pairs, with ``i``, ``j`` in scope and ``{n}`` for the number; ``opens_code`` is the same for ``opens``.
    ``why(e, query, key, n)`` explains why a pair is hidden; ``formula`` names the hidden pairs in a card's header.
    """

    hides: Callable[[Tensor, Tensor, int], Tensor]
    why: Callable[[Layer, int, int, int], str]
    code: str
    formula: str
    opens: Callable[[Tensor, Tensor, int], Tensor] | None = None
    opens_code: str = ""


class Hidden(NamedTuple):
    """The masked cells, [T_q, T_k], and whether a query has no key left. Read-only: the tensor is shared."""

    cells: Tensor
    has_empty_rows: bool

    def on(self, device: torch.device) -> "Hidden":
        """Return the mask with its cells on a device; one that was asked for before is not copied again."""
        return self if device.type == "cpu" else Hidden(_copy(self.cells, device), self.has_empty_rows)


@lru_cache(maxsize=8)
def _copy(cells: Tensor, device: torch.device) -> Tensor:
    with torch.inference_mode(False):  # a training may need it for its derivatives
        return cells.to(device)


def _why_causal(e: Layer, query: int, key: int, n: int) -> str:
    if e.key_tokens is not e.tokens:
        return (
            f"“{e.key_tokens[key]}” is at position {key} of its sequence, “{e.tokens[query]}” at {query}: causal "
            "counts from the top left"
        )
    return f"“{e.key_tokens[key]}” comes after “{e.tokens[query]}”: the future is masked"


def _why_padding(e: Layer, query: int, key: int, n: int) -> str:
    valid = "the first token counts" if n == 1 else f"the first {n} tokens count"
    return f"“{e.key_tokens[key]}” is padding: only {valid}"


def _why_window(e: Layer, query: int, key: int, n: int) -> str:
    far = abs(query - key)
    return f"“{e.key_tokens[key]}” is {far} token{'s' * (far > 1)} away: the window allows at most {n - 1}"


def _why_prefix(e: Layer, query: int, key: int, n: int) -> str:
    whole = "the first token" if n == 1 else f"the first {n} tokens"
    return f"“{e.key_tokens[key]}” comes after “{e.tokens[query]}”: only {whole} may be seen in advance"


def _why_block(e: Layer, query: int, key: int, n: int) -> str:
    return f"“{e.key_tokens[key]}” is in block {key // n}, “{e.tokens[query]}” in block {query // n}, of {n} each"


MASKS = {
    mask.name: mask
    for mask in (
        Mask(
            name="causal",
            title="Causal",
            about="A query does not see later keys",
            hides=lambda i, j, n: j > i,
            why=_why_causal,
            code="(j <= i)",
            formula=r"\mathrm{{future}}",
        ),
        Mask(
            name="padding",
            title="Padding",
            about="Keys beyond the valid length are padding: no query sees them",
            options=(Option("padding", "Valid length", "Number of keys that are real tokens", "whole", 1, 1, 512),),
            hides=lambda i, j, n: (j >= n).expand(i.shape[0], -1),
            why=_why_padding,
            code="(j < {n})",
            formula=r"\mathrm{{padding}}\ {n}",
        ),
        Mask(
            name="window",
            title="Window",
            about="A query sees only keys closer than the window size (Beltagy et al. 2020)",
            options=(
                Option("window", "Window", "A query sees keys fewer than this many tokens away", "whole", 3, 1, 512),
            ),
            hides=lambda i, j, n: (i - j).abs() >= n,
            why=_why_window,
            code="((i - j).abs() < {n})",
            formula=r"\mathrm{{window}}\ {n}",
        ),
        Mask(
            name="prefix",
            title="Prefix",
            about="All queries see the first keys, and otherwise only earlier keys (prefix LM, Raffel et al. 2020)",
            options=(Option("prefix", "Prefix", "Number of first keys that all queries see", "whole", 2, 1, 512),),
            hides=lambda i, j, n: (j > i) & (j >= n),
            why=_why_prefix,
            code="((j <= i) | (j < {n}))",
            formula=r"\mathrm{{prefix}}\ {n}",
            opens=lambda i, j, n: j < n,
            opens_code="(j < {n})",
        ),
        Mask(
            name="block",
            title="Blocks",
            about="Queries see only the keys in their own block (Qiu et al. 2020)",
            options=(Option("block", "Block", "Number of tokens in a block", "whole", 2, 1, 512),),
            hides=lambda i, j, n: i // n != j // n,
            why=_why_block,
            code="(i // {n} == j // {n})",
            formula=r"\mathrm{{blocks}}\ {n}",
        ),
    )
}


def active(causal: bool, masks: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """Return the active masks as (name, number), in the order of the registry."""
    return tuple((name, masks.get(name, 0)) for name in MASKS if (causal if name == "causal" else name in masks))


def find_hidden(t_q: int, t_k: int, causal: bool, masks: Mapping[str, int], painted: Tensor | None) -> Hidden | None:
    """Return the cells that at least one mask hides, or None without masks; ``painted`` is True where allowed.

    The causal mask hides key j > query i, counted from the top left.
    """
    on = active(causal, masks) if masks or causal else ()
    structural = _structural(t_q, t_k, on) if on else None
    if painted is None:
        return structural
    cells = ~painted if structural is None else structural.cells | ~painted
    return Hidden(cells, bool(cells.all(-1).any()))


@lru_cache(maxsize=8)
def _structural(t_q: int, t_k: int, on: tuple[tuple[str, int], ...]) -> Hidden:
    with torch.inference_mode(False):
        i = torch.arange(t_q, device="cpu")[:, None]
        j = torch.arange(t_k, device="cpu")[None]
        cells = torch.zeros(t_q, t_k, dtype=torch.bool, device="cpu")
        for name, n in on:
            cells |= _hides(name, n, on, i, j)
        return Hidden(cells, bool(cells.all(-1).any()))


def _hides(name: str, n: int, on: tuple[tuple[str, int], ...], i: Tensor, j: Tensor) -> Tensor:
    """Return the cells that one mask hides, given the other active masks."""
    cells = MASKS[name].hides(i, j, n)
    for other, m in on if name == "causal" else ():
        opens = MASKS[other].opens
        cells = cells if opens is None else cells & ~opens(i, j, m)
    return cells


def reasons(e: Layer, query: int, key: int) -> str:
    """Return in words why a query may not attend to a key, or "" if it may."""
    i, j = torch.tensor([[query]], device="cpu"), torch.tensor([[key]], device="cpu")
    on = active(e.config.causal, e.config.masks)
    found = [MASKS[name].why(e, query, key, n) for name, n in on if bool(_hides(name, n, on, i, j).any())]
    if e.config.mask is not None and not bool(e.config.mask[query, key]):
        found.append("the mask does not allow this pair")
    return " and ".join(found)


def code(e: Layer) -> str:
    """Return the allowed pairs as a PyTorch expression, with ``i`` and ``j`` in scope."""
    on = active(e.config.causal, e.config.masks)
    opened = "".join(f" | {MASKS[name].opens_code.format(n=n)}" for name, n in on if MASKS[name].opens is not None)
    parts = [
        f"({MASKS[name].code}{opened})" if name == "causal" and opened else MASKS[name].code.format(n=n)
        for name, n in on
    ]
    distinct = dict.fromkeys(parts)  # with a prefix, the causal mask's code equals that of the prefix mask
    return " & ".join([*distinct, *(["mask"] if e.config.mask is not None else [])])


def formula(e: Layer) -> str:
    """Return the names of the active masks as a formula, for a header."""
    names = [MASKS[name].formula.format(n=n) for name, n in active(e.config.causal, e.config.masks)]
    return ", ".join([*names, *([r"\mathrm{mask}"] if e.config.mask is not None else [])])
