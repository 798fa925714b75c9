"""Properties of every registry entry; and dropout, sink, soft cap, QK norm, fills and ablated heads."""

import ast
import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import attnlab
from attnlab.attention.edits import configure
from attnlab.attention.experiment import PROJECTIONS
from attnlab.attention.registries import registry
from attnlab.attention.registries.entries import Entry, Option
from attnlab.attention.registries.features import FEATURES
from attnlab.attention.registries.masks import MASKS
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.registries.norms import NORMS
from attnlab.attention.registries.scores import SCORES
from attnlab.attention.stages.arithmetic import number, plain
from attnlab.attention.stages.explain import Cell, explain
from attnlab.attention.stages.table import BY_NAME, STAGES, about


def drawn(*shape: int, seed: int = 1) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def layer(cross: bool = False, **config: Any) -> attnlab.Experiment:
    """Return four queries of 8 numbers, 4 heads on 2 with d_k = 4; with cross-attention five keys of 6.

    The output has 5 columns, in a block 8, as the inputs.
    """
    rows, wide = 6 if cross else 8, 5 if config.get("block", "none") == "none" else 8
    e = attnlab.Experiment(
        tokens=("a", "b", "c", "d"),
        embeddings=drawn(4, 8),
        weights=attnlab.Weights(W_q=drawn(8, 16) / 3, W_k=drawn(rows, 8) / 3, W_v=drawn(rows, 6), W_o=drawn(12, wide)),
        config=attnlab.AttentionConfig(n_heads=4, n_kv_heads=2),
        memory_tokens=("v", "w", "x", "y", "z") if cross else None,
        memory_embeddings=drawn(5, 6, seed=3) if cross else None,
    )
    return configure(e, **config)


def with_random_tables(e: attnlab.Experiment) -> attnlab.Experiment:
    """Return the experiment with random tables, because an identity or zeros could hide errors."""
    extra = {name: drawn(*table.shape, seed=7) / 2 for name, table in e.weights.extra.items()}
    return replace(e, weights=replace(e.weights, extra=extra))


# --- all registries -------------------------------------------------------------------------------------------------


def entries() -> Iterator[Entry]:
    yield from itertools.chain(*(choice.entries.values() for choice in registry.CHOICES))
    yield from itertools.chain(FEATURES.values(), MASKS.values())


def other_values(option: Option, base: dict[str, Any]) -> tuple[Any, ...]:
    """Return valid values of an option other than its default."""
    if option.kind == "choice":
        return tuple(name for name, *_ in option.choices if name != option.default)
    if option.kind == "switch":
        return (not option.default,)
    steps = (1, 2) if option.kind == "whole" else (0.3,)
    values = [value for step in steps if option.least <= (value := option.default + step) <= option.most]
    return (next((value for value in values if accepted(base | {option.name: value})), option.least),)


def accepted(config: dict[str, Any]) -> bool:
    try:
        layer(**config)
    except attnlab.ExperimentError:
        return False
    return True


def variations() -> dict[str, dict[str, Any]]:
    """Return configurations that together use every entry, and every option with a value other than its default."""
    found: dict[str, dict[str, Any]] = {"plain": {}, "causal": {"causal": True}}
    for choice in registry.CHOICES:
        for entry in choice.entries.values():
            base = {choice.field: entry.name, "causal": True} | ({choice.under: "before"} if choice.under else {})
            found[f"{choice.field} {entry.name}"] = base
            for option in entry.options:
                for value in other_values(option, base):
                    found[f"{entry.name} {option.name} {value}"] = base | {option.name: value}
    for feature in FEATURES.values():
        switch = feature.options[0]
        base = {"causal": True, switch.name: other_values(switch, {})[0]}  # which makes it act
        for option in feature.options:
            for value in other_values(option, base):
                found[f"{option.name} {value}"] = base | {option.name: value}
    for name, causal in itertools.product(MASKS, (False, True)):
        if name != "causal":
            option = registry.mask_option(name)
            n = 1 if option is None else max(2, int(option.least))
            found[f"mask {name} causal {causal}"] = {"masks": {name: n}, "causal": causal}
    return found


VARIATIONS = variations()


def built(name: str, cross: bool = False) -> attnlab.Experiment:
    """Return a layer with a configuration; skip the test if it is refused."""
    try:
        return with_random_tables(layer(cross, **VARIATIONS[name]))
    except attnlab.ExperimentError as refused:
        pytest.skip(str(refused))


def test_every_entry_works_in_a_plain_layer() -> None:
    assert [name for name, config in VARIATIONS.items() if not accepted(config)] == []


@pytest.mark.parametrize("entry", [*entries()], ids=lambda entry: f"{type(entry).__name__} {entry.name}")
def test_every_entry_has_a_title_and_a_description(entry: Entry) -> None:
    assert entry.name.strip() == entry.name != ""
    assert entry.title
    assert len(entry.about) > 10
    for option in entry.options:
        assert option.title
        assert option.about
        assert option.take(option.default) == option.default
    assert all(table.about and 1 <= len(table.axes) <= 2 for table in entry.tables)


def test_each_table_and_option_name_has_one_meaning() -> None:
    tables = [table.name for table in {table for entry in entries() for table in entry.tables}]
    assert len(tables) == len(set(tables))
    options = {option for entry in entries() for option in entry.options}
    names = [option.name for option in options]
    assert len(names) == len(set(names))
    fields = set(attnlab.AttentionConfig.__slots__)
    masks = {option.name for mask in MASKS.values() for option in mask.options}
    assert not (set(names) - masks) & fields
    assert not set(tables) & {*PROJECTIONS, "embeddings", "memory_embeddings", "mask"}


def code_of(e: attnlab.Experiment) -> str:
    return "\n".join(stage.code(e) for stage in STAGES if stage.present(e))


def test_table_names_do_not_collide_with_variables_of_the_code() -> None:
    assigned = {"torch", "x", "memory", "mask", *PROJECTIONS}
    for name in VARIATIONS:
        nodes = ast.walk(ast.parse(code_of(layer(**VARIATIONS[name]))))
        assigned |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    tables = registry.all_tables()
    assert all(name.isidentifier() for name in tables)
    assert not assigned & set(tables)
    assert {"Q", "scores", "weights", "allowed"} <= assigned


@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize("name", VARIATIONS)
def test_the_code_of_every_entry_computes_its_numbers(name: str, cross: bool) -> None:
    e = built(name, cross)
    trace = attnlab.compute(e, dtype="float64")
    scope: dict[str, Any] = {"torch": torch, "x": e.embeddings, "memory": e.memory_embeddings, "mask": e.config.mask}
    scope |= {table: getattr(e.weights, table) for table in PROJECTIONS}
    scope |= e.weights.extra
    for stage in (stage for stage in STAGES if stage.present(e)):
        assert all(len(line) <= 100 for line in stage.code(e).splitlines()), stage.code(e)
        exec(stage.code(e), scope)
        torch.testing.assert_close(
            scope[stage.variable], trace[stage.name], atol=1e-10, rtol=1e-10, msg=lambda m, n=stage.name: f"{n}: {m}"
        )


@pytest.mark.parametrize("normalizer", NORMALIZERS)
@pytest.mark.parametrize("score", SCORES)
def test_every_score_works_with_every_normaliser(score: str, normalizer: str) -> None:
    trace = attnlab.compute(layer(score=score, normalizer=normalizer, causal=True), dtype="float64")
    assert trace.warnings == ()
    assert trace["output"].isfinite().all()


# --- reading explanations back --------------------------------------------------------------------------------------

_NUMBER = r"\d+(?:\.\d+)?(?:e−?\d+)?"
_ARITHMETIC = rf"(?>{_NUMBER}|tanh|cos|sin|max\(0, |e\^{{[^}}]*}}|\^{{2}}|√|[()·÷+ −])++"  # never tried in another way


def worth(text: str) -> float | None:
    """Return the value of an expression; None for words."""
    if not re.fullmatch(_ARITHMETIC, text) or not re.search(r"\d", text):
        return None
    text = re.sub(r"e\^{([^}]*)}", r"exp(\1)", text).replace("^{2}", "**2")
    text = re.sub(rf"√({_NUMBER})", r"sqrt(\1)", text)
    for sign, operator in (("·", "*"), ("÷", "/"), ("−", "-")):
        text = text.replace(sign, operator)
    try:
        return float(eval(text, {name: getattr(math, name) for name in ("exp", "sqrt", "tanh", "cos", "sin")}))
    except SyntaxError:  # a piece of a sentence that happens to be all signs
        return None


def chains(lines: list[str]) -> list[list[float]]:
    """Return the equations of an explanation, each as its sides."""
    found: list[list[float]] = []
    for text in lines:
        sides = [worth(side.split(": ")[-1].strip()) for side in text.removeprefix("= ").split(" = ")]
        numbers = [side for side in sides if side is not None]
        if text.startswith("= ") and found:
            found[-1] += numbers
        else:
            found.append(numbers)
    return [sides for sides in found if sides]


def is_near(side: float, value: float) -> bool:
    """Whether two numbers agree as far as four decimals of each term leave open."""
    return side == value or abs(side - value) <= max(2e-2 * abs(value), 2e-3)


def list_cells(trace: attnlab.Trace) -> list[Cell]:
    """Return cells of two rows, columns and heads of each stage, as far as it has so many."""
    found = {}
    for stage, head in itertools.product(trace.all_stages, (1, 3)):
        *heads, rows, columns = trace[stage].shape
        for row, column in itertools.product((min(1, rows - 1), rows - 1), (0, columns - 1)):
            found[Cell(stage, row, column, head if heads else None)] = None
    return list(found)


@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize("name", VARIATIONS)
def test_every_explanation_is_true_arithmetic_that_ends_in_the_cells_value(name: str, cross: bool) -> None:
    e = built(name, cross)
    trace = attnlab.compute(e, dtype="float64")
    for cell in list_cells(trace):
        explanation = explain(trace, cell, None)
        place = (cell.row, cell.column) if cell.head is None else (cell.head, cell.row, cell.column)
        value = float(trace[cell.stage][place])
        lines = [plain(line) for line in explanation.lines]
        said = "\n".join([str(cell), *lines])
        assert explanation.value == pytest.approx(value, abs=1e-12), said
        found = chains(lines)
        assert all(is_near(side, sides[0]) for sides in found for side in sides), said
        if math.isfinite(value) and value != 0:
            assert number(value) in said or any(is_near(side, value) for sides in found for side in sides), said


# --- dropout --------------------------------------------------------------------------------------------------------


def computed(e: attnlab.Experiment) -> attnlab.Trace:
    return attnlab.compute(e, dtype="float64")


@settings(max_examples=25)
@given(share=st.floats(0.01, 0.99), seed=st.integers(0, 2**31 - 1), causal=st.booleans())
def test_dropout_zeroes_weights_and_divides_the_others_by_one_minus_its_rate(
    share: float, seed: int, causal: bool
) -> None:
    e = layer(dropout=share, dropout_seed=seed, causal=causal)
    trace, again = computed(e), computed(layer(dropout=share, dropout_seed=seed, causal=causal))
    weights, dropped = trace["weights"].flatten().tolist(), trace["dropped"].flatten().tolist()
    for before, after in zip(weights, dropped, strict=True):
        assert after == 0 or after == pytest.approx(before / (1 - share), rel=1e-12)
    assert torch.equal(trace["dropped"], again["dropped"])
    torch.testing.assert_close(trace["context"], trace["dropped"] @ trace["values"], atol=1e-10, rtol=1e-10)


def test_rows_after_dropout_sum_to_one_only_on_average() -> None:
    sums = torch.stack([computed(layer(dropout=0.4, dropout_seed=seed))["dropped"].sum(-1) for seed in range(400)])
    assert (sums.std(0) > 0.1).all()
    within = 5 * sums.std(0) / 20  # five times how far a mean of 400 strays
    assert ((sums.mean(0) - 1).abs() < within).all()
    assert sums.max() > 1.2


def test_dropout_depends_on_the_seed_and_is_off_in_evaluation() -> None:
    first, second = (computed(layer(dropout=0.5, dropout_seed=seed))["dropped"] for seed in (1, 2))
    assert not torch.equal(first == 0, second == 0)
    evaluated = computed(layer(dropout=0.5, training=False))
    assert "dropped" not in evaluated
    assert torch.equal(evaluated["output"], computed(layer())["output"])


@pytest.mark.parametrize("share", [1.0, -0.1, math.nan])
def test_a_dropout_rate_of_one_is_refused(share: float) -> None:
    with pytest.raises(attnlab.ExperimentError, match=r"dropout is .*; it needs a number from 0 to 0.99"):
        layer(dropout=share)


# --- sink -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("causal", [False, True])
def test_a_sink_of_zero_is_softmax_off_by_one(causal: bool) -> None:
    trace = computed(layer(sink=True, causal=causal))
    powers = trace["masked" if causal else "scaled"].exp()
    expected = powers / (1 + powers.sum(-1, keepdim=True))
    torch.testing.assert_close(trace["weights"], expected, atol=1e-10, rtol=1e-10)
    assert (trace["weights"].sum(-1) < 1).all()


@pytest.mark.parametrize("normalizer", [n.name for n in NORMALIZERS.values() if n.competes])
def test_a_sink_is_one_more_score_whose_weight_is_discarded(normalizer: str) -> None:
    e = layer(sink=True, normalizer=normalizer, temperature=0.7)
    sinks = torch.tensor([0.5, -1.0, 2.0, 0.0], dtype=torch.float64)
    trace = computed(replace(e, weights=replace(e.weights, extra={"sinks": sinks})))
    logits = trace["scaled"] / (0.7 if NORMALIZERS[normalizer].tempered else 1)
    for head in range(4):
        for row in range(4):
            one_more = torch.cat([logits[head, row], sinks[head : head + 1]])[None, None]
            expected = NORMALIZERS[normalizer].apply(one_more, {})[0, 0]
            torch.testing.assert_close(trace["weights"][head, row], expected[:-1], atol=1e-10, rtol=1e-10)
            assert trace["weights"][head, row].sum().item() == pytest.approx(1 - expected[-1].item())


@pytest.mark.parametrize("normalizer", [n.name for n in NORMALIZERS.values() if not n.competes])
def test_a_sink_needs_a_normaliser_over_the_row(normalizer: str) -> None:
    with pytest.raises(attnlab.ExperimentError, match=f"sink is on and normalizer is '{normalizer}'.*softmax"):
        layer(sink=True, normalizer=normalizer)


# --- soft cap, QK norm, heads that are off --------------------------------------------------------------------------


@settings(max_examples=25)
@given(cap=st.floats(0.01, 50), scale=st.floats(0.01, 10))
def test_a_soft_cap_squeezes_scores_before_they_are_masked(cap: float, scale: float) -> None:
    trace = computed(layer(soft_cap=cap, scale=scale, causal=True))
    for before, after in zip(trace["scaled"].flatten().tolist(), trace["capped"].flatten().tolist(), strict=True):
        assert after == pytest.approx(cap * math.tanh(before / cap), rel=1e-10, abs=1e-10)
        assert abs(after) <= cap
    assert (trace["masked"][:, 0, 1:] == -torch.inf).all()
    assert torch.equal(trace["masked"].tril(), trace["capped"].tril())


def test_queries_and_keys_of_length_one_score_their_cosine() -> None:
    normed, cosine = computed(layer(qk_norm="l2")), computed(layer(score="cosine"))
    torch.testing.assert_close(normed["scores"], cosine["scores"], atol=1e-10, rtol=1e-10)
    lengths = normed["normed_keys"].square().sum(-1).sqrt()
    torch.testing.assert_close(lengths, torch.ones_like(lengths))


def test_rms_norm_divides_by_the_root_of_the_mean_square_and_multiplies_by_the_gains() -> None:
    trace = computed(with_random_tables(layer(qk_norm="rms")))
    gains = trace.experiment.weights.extra
    for stage, gain in (("queries", gains["g_q"].tolist()), ("keys", gains["g_k"].tolist())):
        for head, row in itertools.product(range(4), range(4)):
            x = trace[stage][head, row].tolist()
            root = math.sqrt(sum(v * v for v in x) / len(x) + 1e-6)
            expected = [v / root * g for v, g in zip(x, gain, strict=True)]
            assert trace[f"normed_{stage}"][head, row].tolist() == pytest.approx(expected, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("norm", [name for name in NORMS if name != "none"])
def test_a_zero_query_stays_zero(norm: str) -> None:
    e = layer(qk_norm=norm)
    trace = computed(replace(e, embeddings=torch.cat([torch.zeros(1, 8, dtype=torch.float64), e.embeddings[1:]])))
    assert (trace["normed_queries"][:, 0] == 0).all()
    assert trace.warnings == ()


@pytest.mark.parametrize("config", [{"qk_norm": "rms"}, {"qk_norm": "l2"}, {"score": "cosine"}], ids=str)
def test_float16_normalises_vectors_whose_squares_overflow(config: dict[str, str]) -> None:
    e = layer()
    large = replace(e, embeddings=e.embeddings * 1000)  # squares of 256 and more are ∞ in float16
    e = configure(large, **config)
    half, exact = (attnlab.compute(e, dtype=dtype)["scores"].double() for dtype in ("float16", "float64"))
    torch.testing.assert_close(half, exact, rtol=0, atol=float(exact.abs().max()) / 100)
    assert attnlab.compute(e, dtype="float16").warnings == ()


@pytest.mark.parametrize("config", [{"qk_norm": "rms"}, {"positions": "rope"}, {"positions": "t5"}], ids=str)
def test_the_callers_default_device_changes_nothing(config: dict[str, str]) -> None:
    e = layer(**config)
    before = computed(e)
    cells = [Cell(name, 1, 1, 0) for name in before.stages]
    expected = [explain(before, cell).lines for cell in cells]
    torch.set_default_device("meta")
    try:
        after = computed(e)
        assert [explain(after, cell).lines for cell in cells] == expected
    finally:
        torch.set_default_device(None)


@settings(max_examples=16)
@given(ablated=st.sets(st.integers(0, 3)))
def test_heads_that_are_off_have_weights_but_zero_context(ablated: set[int]) -> None:
    whole, without = computed(layer()), computed(layer(ablated=tuple(ablated)))
    assert torch.equal(whole["weights"], without["weights"])
    w_o = whole.experiment.weights.W_o
    assert w_o is not None
    parts = [whole["context"][h] @ w_o[h * 3 : (h + 1) * 3] for h in range(4) if h not in ablated]
    expected = sum(parts, torch.zeros(4, 5, dtype=torch.float64))
    torch.testing.assert_close(without["output"], expected, atol=1e-10, rtol=1e-10)
    assert all((without["context"][h] == 0).all() for h in ablated)
    for head in ablated:
        assert "switched off" in plain(explain(without, Cell("context", 1, 0, head)).lines[0])


# --- what masked scores become --------------------------------------------------------------------------------------

MASK = torch.tensor([[True, False, True, False], [False] * 4, [True] * 4, [False, True, False, False]])


def filled(fill: str, **config: Any) -> attnlab.Trace:
    return computed(layer(mask=MASK, fill=fill, **config))


@pytest.mark.parametrize("normalizer", NORMALIZERS)
def test_a_fill_of_minus_infinity_gives_zero_weights_and_empty_rows(normalizer: str) -> None:
    weights = filled("-inf", normalizer=normalizer)["weights"]
    assert (weights[:, ~MASK] == 0).all()
    assert (weights[:, 1] == 0).all()
    if normalizer in ("softmax", "sparsemax", "entmax15", "softmax-unshifted"):
        torch.testing.assert_close(weights.sum(-1), torch.tensor([1.0, 0, 1, 1]).double().expand(4, 4))


def test_a_fill_of_minus_1e9_lets_an_empty_row_attend_to_everything() -> None:
    trace, right = filled("-1e9"), filled("-inf")
    rows = [0, 2, 3]
    assert torch.equal(trace["weights"][:, rows], right["weights"][:, rows])
    torch.testing.assert_close(trace["weights"][:, 1], torch.full((4, 4), 0.25, dtype=torch.float64))
    assert trace.empty_rows == ()


def test_a_fill_of_minus_1e9_is_minus_infinity_in_float16_with_a_warning() -> None:
    trace = attnlab.compute(layer(mask=MASK, fill="-1e9"), dtype="float16")
    assert trace["weights"][:, 1].isnan().all()
    assert any(warning.startswith("weights: 16 of 64") for warning in trace.warnings)


def test_a_fill_of_zero_gives_masked_keys_the_weight_of_score_zero() -> None:
    trace = filled("0")
    powers = torch.where(MASK, trace["scaled"], 0).exp()
    torch.testing.assert_close(trace["weights"], powers / powers.sum(-1, keepdim=True), atol=1e-10, rtol=1e-10)
    assert (trace["weights"][:, ~MASK] > 0).all()
    torch.testing.assert_close(trace["weights"][:, 1], torch.full((4, 4), 0.25, dtype=torch.float64))


def test_masking_after_softmax_reduces_the_row_sums() -> None:
    trace, unmasked = filled("after"), computed(layer())
    assert "masked" not in trace
    assert torch.equal(trace["weights"], unmasked["weights"])
    expected = unmasked["weights"] * MASK
    assert torch.equal(trace["zeroed"], expected)
    sums = trace["zeroed"].sum(-1)
    assert (sums[:, [0, 3]] < 1).all()
    assert (sums[:, 1] == 0).all()
    torch.testing.assert_close(trace["context"], expected @ trace["values"], atol=1e-10, rtol=1e-10)


def test_each_fill_has_a_description() -> None:
    def said(fill: str, stage: str, row: int, column: int) -> str:
        return "\n".join(map(plain, explain(filled(fill), Cell(stage, row, column, 0)).lines))

    assert "every key of this row is masked" in said("-inf", "weights", 1, 0)
    assert "a score of 0 does not mean none" in said("0", "weights", 0, 1)
    assert "set to 0 too late" in said("after", "zeroed", 0, 1)
    assert "the row sums to 0.0000" not in said("after", "zeroed", 0, 0)
    assert "= −1e9" in said("-1e9", "masked", 0, 1)
    half = attnlab.compute(filled("-1e9").experiment, dtype="float16")
    assert "which is beyond float16 and becomes −∞" in plain(explain(half, Cell("masked", 0, 1, 0)).lines[1])


@pytest.mark.parametrize(("normalizer", "weighs"), [("softmax", True), ("sigmoid", True), ("sum", False)])
def test_a_fill_of_zero_is_described_with_its_weight(normalizer: str, weighs: bool) -> None:
    trace = computed(configure(filled("0").experiment, normalizer=normalizer))
    lines = [plain(line) for line in explain(trace, Cell("weights", 0, 1, 0)).lines]
    assert any("it gets a weight" in line for line in lines) is weighs
    assert bool(trace["weights"][0, 0, 1] != 0) is weighs


def test_masking_independent_weights_is_not_described_as_too_late() -> None:
    e = configure(filled("after").experiment, normalizer="sigmoid")
    at_once = configure(e, options={"fill": "-inf"})
    torch.testing.assert_close(computed(e)["zeroed"], computed(at_once)["weights"], atol=0, rtol=0)
    lines = [plain(line) for line in explain(computed(e), Cell("zeroed", 0, 1, 0)).lines]
    assert not any("too late" in line for line in lines)
    assert "too late" not in about(BY_NAME["zeroed"], e)
    assert "too late" in about(BY_NAME["zeroed"], filled("after").experiment)


@pytest.mark.parametrize("normalizer", NORMALIZERS)
def test_the_description_of_the_weights_matches_their_row_sums(normalizer: str) -> None:
    trace = computed(layer(normalizer=normalizer))
    sums_to_one = torch.allclose(trace["weights"].sum(-1), torch.ones((), dtype=torch.float64))
    assert ("need not sum to 1" not in about(BY_NAME["weights"], trace.experiment)) is sums_to_one


def test_a_zero_weight_is_described_as_neither_kept_nor_dropped() -> None:
    trace = computed(layer(causal=True, dropout=0.5))
    assert float(trace["weights"][0, 0, 2]) == 0
    assert plain(explain(trace, Cell("dropped", 0, 2, 0)).lines[0]) == "its weight is already 0, dropped or not"
