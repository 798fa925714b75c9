"""The table of the stages of an attention layer, which is the program's only list of stages."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from attnlab.attention.registries.losses import find_pair
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.stages import (
    evaluate,
    evaluate_block,
    explain_block,
    explain_maps,
    explain_projections,
    presence,
    spell_block,
    spelling,
)
from attnlab.attention.stages.backward_table import BACKWARD_STAGES
from attnlab.attention.stages.stage import Stage

if TYPE_CHECKING:
    from attnlab.attention.experiment import AttentionConfig, Experiment

__all__ = ["BY_NAME", "STAGES", "Plan", "Stage", "about", "kind_of", "new_plan", "plan", "sources"]

_QUERY, _KEY, _VALUE = ("head", "query", "d_k"), ("head", "key", "d_k"), ("head", "key", "d_v")
_MAP = ("head", "query", "key")
_STREAM, _HIDDEN = ("query", "d_model"), ("query", "d_ff")

STAGES: tuple[Stage, ...] = (
    Stage(
        "inputs", "Inputs", "X", ("token", "d_model"), "neutral", "signed",
        "One row of numbers for each token.",
        spelling.write_inputs_formula, evaluate.inputs, explain_projections.inputs, spelling.write_inputs_code,
    ),
    Stage(
        "memory", "Memory", "M", ("key", "d_memory"), "neutral", "signed",
        "The second sequence, which keys and values come from.",
        spelling.write_memory_formula, evaluate.memory, explain_projections.memory, spelling.write_memory_code, True,
    ),
    Stage(
        "normed_inputs", "Normed inputs", "X", ("token", "d_model"), "neutral", "signed",
        "Each token normalised, which attention reads; the residual stream keeps the token itself.",
        spell_block.make_norm_formula("normed_inputs"), evaluate_block.normed_inputs, explain_block.normed,
        spell_block.make_norm_code("normed_inputs"),
    ),
    Stage(
        "queries", "Queries", "Q", _QUERY, "query", "signed",
        "The vector with which each token searches the others.",
        spelling.make_projection_formula("queries", "q"), evaluate.queries, explain_projections.queries,
        spelling.make_projection_code("queries", "q"),
    ),
    Stage(
        "keys", "Keys", "K", _KEY, "key", "signed",
        "The vector by which each token is found.",
        spelling.make_projection_formula("keys", "k"), evaluate.keys, explain_projections.keys,
        spelling.make_projection_code("keys", "k"),
    ),
    Stage(
        "values", "Values", "V", _VALUE, "value", "signed",
        "The vector that each token contributes when others attend to it.",
        spelling.make_projection_formula("values", "v"), evaluate.values, explain_projections.values,
        spelling.make_projection_code("values", "v"),
    ),
    Stage(
        "normed_queries", "Normed queries", "Q", _QUERY, "query", "signed",
        "Queries normalised to similar size, so that scores cannot grow too large.",
        spelling.make_normed_formula("queries"), evaluate.normed_queries, explain_projections.normed_queries,
        spelling.make_normed_code("queries"),
    ),
    Stage(
        "normed_keys", "Normed keys", "K", _KEY, "key", "signed",
        "Keys normalised to similar size, so that scores cannot grow too large.",
        spelling.make_normed_formula("keys"), evaluate.normed_keys, explain_projections.normed_keys,
        spelling.make_normed_code("keys"),
    ),
    Stage(
        "rotated_queries", "Rotated queries", "Q", _QUERY, "query", "signed",
        "Queries rotated by an angle that grows with their position.",
        spelling.make_rotated_formula("queries"), evaluate.rotated_queries, explain_projections.rotated_queries,
        spelling.make_rotated_code("queries"),
    ),
    Stage(
        "rotated_keys", "Rotated keys", "K", _KEY, "key", "signed",
        "Keys rotated by an angle that grows with their position.",
        spelling.make_rotated_formula("keys"), evaluate.rotated_keys, explain_projections.rotated_keys,
        spelling.make_rotated_code("keys"),
    ),
    Stage(
        "scores", "Scores", "S", _MAP, "neutral", "signed",
        "How well each query matches each key.",
        spelling.write_scores_formula, evaluate.scores, explain_maps.scores, spelling.write_scores_code,
    ),
    Stage(
        "scaled", "Scaled", "S", _MAP, "neutral", "signed",
        "Scores divided, so that long vectors do not push the weights to 0 or 1.",
        spelling.write_scaled_formula, evaluate.scaled, explain_maps.scaled, spelling.write_scaled_code,
    ),
    Stage(
        "biased", "Biased", "S", _MAP, "neutral", "signed",
        "Scores plus a bias that depends on the distance between two tokens.",
        spelling.write_biased_formula, evaluate.biased, explain_maps.biased, spelling.write_biased_code,
    ),
    Stage(
        "capped", "Capped", "S", _MAP, "neutral", "signed",
        "Scores squeezed smoothly below the cap.",
        spelling.write_capped_formula, evaluate.capped, explain_maps.capped, spelling.write_capped_code,
    ),
    Stage(
        "masked", "Masked", "S", _MAP, "neutral", "signed",
        "Scores of masked pairs are set to minus infinity.",
        spelling.write_masked_formula, evaluate.masked, explain_maps.masked, spelling.write_masked_code,
    ),
    Stage(
        "weights", "Weights", "A", _MAP, "attention", "probability",
        "Each row becomes a distribution that sums to 1.",
        spelling.write_weights_formula, evaluate.weights, explain_maps.weights, spelling.write_weights_code,
    ),
    Stage(
        "zeroed", "Masked after", "A", _MAP, "attention", "probability",
        "Weights of masked pairs are set to 0 too late: the rows no longer sum to 1.",
        spelling.write_masked_formula, evaluate.zeroed, explain_maps.zeroed, spelling.write_zeroed_code,
    ),
    Stage(
        "dropped", "Dropout", "A", _MAP, "attention", "positive",
        "Some weights are set to 0 at random and the others scaled up: rows keep their sum only on average.",
        spelling.write_dropped_formula, evaluate.dropped, explain_maps.dropped, spelling.write_dropped_code,
    ),
    Stage(
        "context", "Context", "Z", ("head", "query", "d_v"), "attention", "signed",
        "The values, mixed by the weights.",
        spelling.write_context_formula, evaluate.context, explain_maps.context, spelling.write_context_code,
    ),
    Stage(
        "merged", "Heads merged", "Z", ("query", "merged"), "attention", "signed",
        "The heads concatenated, each in its own columns.",
        spelling.write_merged_formula, evaluate.merged, explain_maps.merged, spelling.write_merged_code, True,
    ),
    Stage(
        "output", "Output", "O", ("query", "d_out"), "neutral", "signed",
        "The concatenated heads, mixed by the output weights.",
        spelling.write_output_formula, evaluate.output, explain_maps.output, spelling.write_output_code,
    ),
    Stage(
        "residual", "Residual", "R", _STREAM, "neutral", "signed",
        "The token itself plus what attention found for it.",
        spell_block.make_sum_formula("residual"), evaluate_block.residual, explain_block.residual,
        spell_block.make_sum_code("residual"),
    ),
    Stage(
        "normed_residual", "Normed residual", "R", _STREAM, "neutral", "signed",
        "Each token brought to the same size.",
        spell_block.make_norm_formula("normed_residual"), evaluate_block.normed_residual, explain_block.normed,
        spell_block.make_norm_code("normed_residual"),
    ),
    Stage(
        "gates", "Gates", "G", _HIDDEN, "neutral", "signed",
        "A number for each hidden number that decides how much of it passes.",
        spell_block.make_map_formula("gates", "W_gate", ""), evaluate_block.gates, explain_block.linear_map,
        spell_block.make_map_code("gates", "W_gate", ""),
    ),
    Stage(
        "hidden", "Hidden", "H", _HIDDEN, "neutral", "signed",
        "Each token on its own, mapped to the hidden numbers of the feed-forward.",
        spell_block.make_map_formula("hidden", "W_1", "b_1"), evaluate_block.hidden, explain_block.linear_map,
        spell_block.make_map_code("hidden", "W_1", "b_1"),
    ),
    Stage(
        "activated", "Activated", "H", _HIDDEN, "neutral", "signed",
        "The step that is not linear: without it, the two maps would be one.",
        spell_block.write_activated_formula, evaluate_block.activated, explain_block.activated,
        spell_block.write_activated_code,
    ),
    Stage(
        "feed_forward", "Feed-forward", "F", _STREAM, "neutral", "signed",
        "What the feed-forward adds to each token.",
        spell_block.make_map_formula("feed_forward", "W_2", "b_2"), evaluate_block.feed_forward,
        explain_block.linear_map, spell_block.make_map_code("feed_forward", "W_2", "b_2"),
    ),
    Stage(
        "second_residual", "Second residual", "R", _STREAM, "neutral", "signed",
        "The token with what attention and the feed-forward added to it.",
        spell_block.make_sum_formula("second_residual"), evaluate_block.second_residual, explain_block.residual,
        spell_block.make_sum_code("second_residual"),
    ),
    Stage(
        "normed_second_residual", "Normed second residual", "R", _STREAM, "neutral", "signed",
        "Each token brought to the same size again: what the next layer reads.",
        spell_block.make_norm_formula("normed_second_residual"), evaluate_block.normed_second_residual,
        explain_block.normed, spell_block.make_norm_code("normed_second_residual"),
    ),
    *BACKWARD_STAGES,
)  # fmt: skip

BY_NAME = {stage.name: stage for stage in STAGES}


def kind_of(stage: Stage, e: "Experiment") -> str:
    """Return the kind of a stage's numbers ("signed", "probability", "positive"), which the normaliser can change."""
    if stage.kind == "signed":
        return stage.kind
    normalizer = NORMALIZERS[e.config.normalizer].kind
    return normalizer if normalizer == "signed" else stage.kind


def name_stage(stage: Stage, e: "Experiment") -> str:
    """Return the title of a stage in an experiment; that of a Jacobian names its query."""
    return f"{stage.title} of “{e.tokens[find_pair(e)[1]] or '∅'}”" if stage.name == "jacobian" else stage.title


def name_axes(stage: Stage, e: "Experiment") -> tuple[str, ...]:
    """Return the names of a stage's axes; without a second sequence, keys and values are made of d_model columns."""
    return tuple("d_model" if axis == "d_memory" and e.memory_embeddings is None else axis for axis in stage.axes)


def about(stage: Stage, e: "Experiment") -> str:
    """Return one sentence for a lecture on what a stage does in this configuration."""
    normalizer = NORMALIZERS[e.config.normalizer]
    if stage.name == "weights" and normalizer.alone:
        return "Each score becomes a weight on its own; the rows need not sum to 1."
    if stage.name == "weights" and normalizer.kind == "signed":
        return "Each row becomes numbers that sum to 1, some of them possibly negative."
    if stage.name == "zeroed" and normalizer.alone:
        return "Weights of masked pairs are set to 0; the others do not depend on them."
    if stage.name == "masked" and e.config.option("fill") != "-inf":
        return f"Scores of masked pairs are set to {e.config.option('fill').replace('-', '−')}."
    if stage.name == "output" and e.weights.W_o is None:
        return "The heads concatenated." if e.n_heads > 1 else "The context of the only head."
    return stage.about


def sources(stage: Stage, e: "Experiment") -> tuple[Stage, ...]:
    """Return the sources of a stage in this configuration."""
    return tuple(BY_NAME[name] for name in presence.sources(e, stage.name))


@dataclass(frozen=True, slots=True)
class Plan:
    """The stages of a configuration: all by name, in order, and the sources of each.

    ``listed`` has the names without side stages.
    """

    stages: Mapping[str, Stage]
    sources: Mapping[str, tuple[str, ...]]
    listed: tuple[str, ...]


_PLANS: "WeakKeyDictionary[AttentionConfig, dict[tuple[bool, ...], Plan]]" = WeakKeyDictionary()


def plan(e: "Experiment") -> Plan:
    """Return the plan of an experiment, cached by configuration, since edits of numbers keep the configuration."""
    plans = _PLANS.get(e.config)
    if plans is None:
        plans = _PLANS[e.config] = {}
    w = e.weights
    given = (e.memory_embeddings, w.W_q, w.W_k, w.W_v, w.W_o, w.b_q, w.b_k, w.b_v, w.b_o)
    key = tuple(each is not None for each in given)
    if key not in plans:
        plans[key] = new_plan(e)
    return plans[key]


def new_plan(e: "Experiment") -> Plan:
    """Return the plan of an experiment, or of an object with the same attributes, without caching."""
    present = {stage.name: stage for stage in STAGES if stage.present(e)}
    listed = tuple(name for name, stage in present.items() if not stage.beside)
    return Plan(present, {name: presence.sources(e, name) for name in present}, listed)
