"""Remarks on a configuration: combinations that compute but make little sense, and choices on which libraries differ.

The window, ``attnlab show`` and the exported code say the same sentences.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import torch

from attnlab.attention.registries import masks
from attnlab.attention.registries.entries import Entry
from attnlab.attention.registries.features import FEATURES
from attnlab.attention.registries.losses import find_reason_against_wanted
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.registries.norms import NORMS
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.registries.scores import SCORES
from attnlab.attention.stages import presence

if TYPE_CHECKING:
    from attnlab.attention.experiment import AttentionConfig, Experiment, Weights

_PLACES = 6
"""The number of positions at which the same query and key are compared."""
_TOLERANCE = 1e-6
SCALES = {"sqrt_d_k": "√d_k", "sqrt_d_model": "√d_model"}


@dataclass(frozen=True, slots=True)
class Remark:
    """One sentence on a configuration, the stage at which it matters, and whether the configuration is odd there."""

    stage: str
    sentence: str
    is_odd: bool = True


def find_remarks(e: "Experiment", dtype: str = "float32") -> tuple[Remark, ...]:
    """Return the remarks on an experiment that is computed in a dtype, oddities first."""
    found = (*_compare_sequences(e), *_rotate_other_scores(e), *_divide_fills(e, dtype), *_divide_cosines(e))
    return (*found, *_norm_cosines(e), *_want_unreachable(e), *_name_conventions(e))


def find_oddities(e: "Experiment", dtype: str = "float32") -> tuple[str, ...]:
    """Return one sentence for each combination of settings that makes little sense."""
    return tuple(remark.sentence for remark in find_remarks(e, dtype) if remark.is_odd)


def find_stage_remarks(e: "Experiment", stage: str, dtype: str = "float32") -> tuple[str, ...]:
    """Return the sentences that matter at one stage."""
    return tuple(remark.sentence for remark in find_remarks(e, dtype) if remark.stage == stage)


def _compare_sequences(e: "Experiment") -> Iterator[Remark]:
    """Find masks and positions that compare the indexes of two different sequences."""
    if e.memory_tokens is None:
        return
    active = masks.active(e.config.causal, e.config.masks)
    names = [masks.MASKS[name].title.lower() for name, _ in active if name != "padding"]
    if names:
        which = f"The {' and '.join(names)} mask{'s compare' if len(names) > 1 else ' compares'} positions in {_TWO}"
        start = ". The causal mask starts at the top left" if e.config.causal and e.T_q != e.T_k else ""
        stage = next(name for name in ("masked", "zeroed") if presence.has_stage(e, name))
        yield Remark(stage, f"{which}{start}.")
    scheme = POSITIONS[e.config.positions]
    if scheme.rotate is not None or scheme.bias is not None:
        stage = "biased" if scheme.bias is not None else "rotated_keys"
        yield Remark(stage, f"{scheme.title} compares positions in {_TWO}.")


def _want_unreachable(e: "Experiment") -> Iterator[Remark]:
    if reason := find_reason_against_wanted(e):
        yield Remark("loss", f"{reason[:-1]}, so the loss cannot become 0.")


_TWO = "two different sequences, which means little unless they are aligned word for word"


def _rotate_other_scores(e: "Experiment") -> Iterator[Remark]:
    scheme, score = POSITIONS[e.config.positions], SCORES[e.config.score]
    if scheme.rotate is not None and not _depends_on_distance(e.config, e.weights, e.n_heads, e.d_k):
        yield Remark(
            "scores",
            f"{scheme.title} makes dot products depend only on the distance of two tokens; with the score "
            f"“{score.title}” this property is lost.",
        )


@lru_cache(maxsize=1)  # Explain asks for every cell that is pointed at
def _depends_on_distance(config: "AttentionConfig", weights: "Weights", n_heads: int, d_k: int) -> bool:
    """Return whether rotated queries and keys have scores that depend only on their distance.

    One query and one key are rotated to several positions; scores at equal distances must be equal. So a learned
    matrix in the score is judged by its numbers.
    """
    scheme, score = POSITIONS[config.positions], SCORES[config.score]
    assert scheme.rotate is not None
    with torch.inference_mode():
        columns = torch.arange(d_k, dtype=torch.float64, device="cpu")
        vectors = [(columns * step + step).cos().expand(n_heads, _PLACES, -1) for step in (1.0, 2.0)]
        query, key = (scheme.rotate(vector, _parameters(config, weights, scheme)) for vector in vectors)
        scores = score.apply(query, key, _parameters(config, weights, score))
        gap = (scores[:, 1:, 1:] - scores[:, :-1, :-1]).abs().max()
        return bool(gap <= _TOLERANCE * scores.abs().max())


def _parameters(config: "AttentionConfig", weights: "Weights", entry: Entry) -> Mapping[str, Any]:
    """Return the tables and options of an entry by name, tables in float64 on the CPU."""
    tables = {table.name: weights.extra[table.name].to("cpu", torch.float64) for table in entry.tables}
    return tables | {option.name: config.option(option.name) for option in entry.options}


def _divide_fills(e: "Experiment", dtype: str) -> Iterator[Remark]:
    normalizer = NORMALIZERS[e.config.normalizer]
    large = e.config.option("fill") == "-1e9" and dtype != "float16"  # there it becomes −∞
    if e.masked and large and normalizer.kind == "signed":
        yield Remark(
            "weights",
            f"“{normalizer.title}” divides the −1e9 of masked scores like any other: masked pairs get nearly all the "
            "weight of their row, although it still sums to 1.",
        )


def _has_cosines(e: "Experiment") -> bool:
    return e.config.score == "cosine" or (e.config.score == "dot" and e.config.qk_norm == "l2")


def _divide_cosines(e: "Experiment") -> Iterator[Remark]:
    normalizer = NORMALIZERS[e.config.normalizer]
    divisor = e.divisor or 1.0
    total = divisor * (e.config.option("temperature") if normalizer.tempered else 1.0)
    if _has_cosines(e) and divisor > 1 and total > 1:
        scale = SCALES.get(str(e.config.scale), f"{divisor:g}")
        ends = f"{1 / divisor:.2g}"
        yield Remark(
            "scaled",
            f"Cosines already lie between −1 and 1; dividing by {scale} squeezes them into −{ends} to {ends}, which "
            "leaves little to tell keys apart.",
        )


def _norm_cosines(e: "Experiment") -> Iterator[Remark]:
    norm = NORMS[e.config.qk_norm]
    if e.config.score != "cosine" or norm.apply is None:
        return
    tables = [e.weights.extra[table.name] for table in norm.tables]
    even = all(bool((table == table[0]).all()) and bool(table[0] > 0) for table in tables)
    effect = "changes nothing" if even else "acts through its gains only"
    sentence = f"Cosine ignores the lengths of queries and keys, so QK norm “{norm.title}” {effect}."
    yield Remark("normed_queries", sentence)


def _name_conventions(e: "Experiment") -> Iterator[Remark]:
    scheme = POSITIONS[e.config.positions]
    if scheme.convention:
        rotated, biased = ("rotated_queries", "rotated_keys"), ("biased",)
        stages = rotated if scheme.rotate is not None else biased if scheme.bias is not None else ("inputs",)
        yield from (Remark(stage, scheme.convention, is_odd=False) for stage in stages)
    for feature in FEATURES.values():
        if feature.convention and feature.on(e.config):
            yield Remark("weights", feature.convention, is_odd=False)
