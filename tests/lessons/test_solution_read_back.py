"""Every title, label and number of a worked solution equals the trace's, in Markdown and LaTeX."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

import attnlab
from attnlab.attention import edits
from attnlab.attention.edits.token_edits import resize_tokens
from attnlab.attention.experiment import Experiment
from attnlab.attention.stages.arithmetic import number, plain, short
from attnlab.attention.stages.explain import explain
from attnlab.attention.stages.explanation import Cell
from attnlab.attention.stages.remarks import find_stage_remarks
from attnlab.attention.stages.table import about
from attnlab.attention.stages.trace import Trace
from attnlab.base.counted import format_count
from attnlab.lessons.exercise import trace_exactly
from attnlab.lessons.solution import LIMIT, WIDEST, find_extent, write_latex, write_markdown
from tests.lessons.read_back import Block, Computed, Formula, Heading, Said, Table, alike, of_latex, of_markdown
from tests.quick import slow_but

COVERING = (
    "journey",
    "uneven-heads",
    "causal-5x8",
    "padding-batch",
    "cross-attention",
    "bottleneck-attention",
    "rope",
    "alibi",
    "learned-positions",
    "attention-sink",
    "qk-norm",
    "head-ablated",
    "mask-after-softmax",
    "sparsemax",
    "additive",
    "dropout",
    "temperature",
    "whole-block",
    "block-after",
    "block-llama",
    "induction",
    "loops",
)
"""Every stage and kind of table at least once; several heads, shared keys, and a layer that is cut."""


def token(name: str) -> str:
    return alike(name or "∅")


def names(e: Experiment, axis: str, count: int) -> tuple[str, ...]:
    """Return the labels along an axis, computed independently: queries are tokens, keys may be the memory's."""
    keys = e.tokens if e.memory_tokens is None else e.memory_tokens
    tokens = {"token": e.tokens, "query": e.tokens, "key": keys}.get(axis)
    return tuple(map(token, tokens or map(str, range(count))))


def table(rows: tuple[str, ...], columns: tuple[str, ...], values: list[list[float]]) -> Block:
    if len(rows) > WIDEST or len(columns) > WIDEST:
        return Said(alike(f"{len(rows)} × {len(columns)} numbers."))
    decimals = 2 if all(short(value) == number(value, 2) for row in values for value in row) else 4
    texts = tuple(tuple(alike(number(value, decimals)) for value in row) for row in values)
    return Table(rows, columns, texts)


TITLES = {"embeddings": "Embeddings", "memory_embeddings": "Embeddings of the second sequence"}


def given(e: Experiment) -> Iterator[Block]:
    """Return every input table with its labels; identities are omitted."""
    tables = {"embeddings": e.embeddings, "memory_embeddings": e.memory_embeddings}
    tables |= {name: getattr(e.weights, name) for name in ("W_q", "W_k", "W_v", "W_o", *edits.BIASES)}
    tables |= dict(e.weights.extra)
    wanted = {name: each for name, each in tables.items() if each is not None}
    assert len(wanted) == len(set(wanted) & set(edits.tables(e))), "the window knows them all"
    for name in edits.tables(e):
        if name not in wanted:
            continue
        values = wanted[name].reshape(edits.shape(e, name)).tolist()
        rows = {"embeddings": e.tokens, "memory_embeddings": e.memory_tokens}.get(name)
        yield Heading(3, alike(TITLES.get(name, name)))
        yield table(
            tuple(map(token, rows or map(str, range(len(values))))), tuple(map(str, range(len(values[0])))), values
        )


def is_copied(trace: Trace, name: str) -> bool:
    """Whether a stage has the numbers of an earlier one: a projection without weight and bias, one head's context."""
    symbol = {"queries": "q", "keys": "k", "values": "v", "output": "o"}.get(name)
    if symbol is None or (symbol == "o" and trace.experiment.n_heads > 1):
        return False
    return all(getattr(trace.experiment.weights, f"{table}_{symbol}") is None for table in "Wb")


def stage(trace: Trace, name: str, n_rows: int | None, n_heads: int | None) -> Iterator[Block]:
    e, entry, array = trace.experiment, trace.stage(name), trace.array(name)
    yield Heading(2, alike(entry.title))
    yield Said(alike(about(entry, e)))
    for remark in find_stage_remarks(e, name):
        yield Said(alike(remark))
    yield Formula(entry.formula(e))
    rows, columns = (names(e, axis, count) for axis, count in zip(entry.axes[-2:], array.shape[-2:], strict=True))
    places = [f"column{c}" for c in columns] if entry.axes[-1] not in ("token", "query", "key") else list(columns)
    for head in range(len(array[:n_heads])) if array.ndim == 3 else (None,):
        if head is not None and e.n_heads > 1:
            yield Heading(3, alike(f"{entry.title}, head {head}"))
        values = array if head is None else array[head]
        yield table(rows, columns, values.tolist())
        for i in range(len(rows[:n_rows])):
            for j in range(len(columns)):
                lines = explain(trace, Cell(name, i, j, head), None).lines
                is_given = [plain(each).partition(" ")[0] for each in lines] == ["given:"]
                if (is_given or is_copied(trace, name)) and max(len(rows), len(columns)) <= WIDEST:
                    continue  # inputs without positions: their table says it all
                title = f"{rows[i]}→{places[j]}:{alike(number(values[i, j]))}"
                yield Computed(title, tuple(alike(plain(each)) for each in lines))


def opening(trace: Trace, rows: int | None, heads: int | None) -> Iterator[Block]:
    e = trace.experiment
    yield Heading(1, "Workedsolution")
    many = f"{e.n_heads} heads, " if e.n_heads > 1 else ""
    tokens = f"{format_count(e.T_q, 'query', 'queries')}, {format_count(e.T_k, 'key')}"
    sizes = f"{tokens}, {many}d_model {e.d_model}, d_k {e.d_k}"
    yield Said(alike(f"{sizes}; computed in float64."))
    if e.n_items > 1:
        yield Said(alike(f"Sequence {e.item + 1} of a batch of {e.n_items}."))
    if rows is not None:
        of = f" of head 0 of {e.n_heads} is" if heads is not None else " is"
        which = f"the first row{of}" if rows == 1 else f"the first {rows} rows are"
        yield Said(
            alike(f"The whole solution would have more than {LIMIT} terms, so {which} written out for each stage.")
        )
    for warning in trace.warnings:
        yield Said(alike(warning))


def expected(trace: Trace) -> list[Block]:
    whole = find_extent(trace)
    blocks = [*opening(trace, whole.rows, whole.heads), *given(trace.experiment)]
    for name in trace.all_stages:
        blocks += stage(trace, name, whole.rows, whole.heads)
    return blocks


def check(found: list[Block], wanted: list[Block]) -> None:
    """Compare block by block. A cell may leave out lines at its end, which an earlier one of its pair has said."""
    said: set[tuple[str, str]] = set()
    head = ""
    for block, wish in zip(found, wanted, strict=True):
        if not isinstance(wish, Computed):
            assert block == wish
            head = wish.title.partition(",head")[2] if isinstance(wish, Heading) else head
            continue
        assert isinstance(block, Computed)
        assert block.title == wish.title
        assert block.lines == wish.lines[: len(block.lines)]
        assert block.lines
        pair = f"{head}: {wish.title.rpartition(':')[0]}"
        lines = [(pair, each.removeprefix("score")) for each in wish.lines]
        assert set(lines[len(block.lines) :]) <= said, "a line is said nowhere"
        said.update(lines)


@pytest.mark.parametrize("preset", slow_but(("journey", "alibi"), COVERING))
def test_a_solution_contains_exactly_the_computed_numbers(preset: str) -> None:
    e = attnlab.preset(preset)
    if preset != "loops" and e.T_q > 4 and e.memory_tokens is None:
        e = resize_tokens(e, 4)
    trace = trace_exactly(e)
    wanted = expected(trace)
    check(of_markdown(write_markdown(trace)), wanted)
    check(of_latex(write_latex(trace)), wanted)


def test_tokens_with_markup_characters_are_read_back() -> None:
    e = attnlab.preset("causal-5x8")
    e = replace(e, tokens=("50%", "a_b", "Zoë", "", "你")[: e.T_q])
    check(of_markdown(write_markdown(trace_exactly(e))), expected(trace_exactly(e)))
    check(of_latex(write_latex(trace_exactly(e))), expected(trace_exactly(e)))


def test_the_test_set_covers_every_stage_of_the_presets() -> None:
    def stages(preset: str) -> set[str]:
        return set(attnlab.compute(attnlab.preset(preset)).all_stages)

    covered = set().union(*map(stages, COVERING))
    assert set().union(*map(stages, attnlab.presets())) <= covered | {"capped"}


def test_overflow_gives_a_warning() -> None:
    e = attnlab.preset("journey")
    e = replace(e, config=replace(e.config, normalizer="softmax-unshifted"))
    trace = trace_exactly(edits.scale(e, "W_q", 10_000))
    assert trace.warnings
    check(of_markdown(write_markdown(trace)), expected(trace))
    check(of_latex(write_latex(trace)), expected(trace))
