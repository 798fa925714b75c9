"""The state of a step equals the same edits made by hand; an invalid one affects only itself."""

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import attnlab
from attnlab.attention import edits
from attnlab.attention.edits.batches import items
from attnlab.attention.edits.token_edits import word_vector
from attnlab.attention.examples.presets import preset
from attnlab.attention.experiment import Experiment
from attnlab.attention.registries import registry
from attnlab.attention.registries.masks import MASKS
from attnlab.base.errors import AttnlabError, ExperimentError
from attnlab.lessons.lesson import Edit, Lesson, Problem, Step
from attnlab.lessons.slides import check, make_slides
from attnlab.lessons.state import _FIELDS, _SPECIAL, _list_sizes, apply_edit, reseed


def after(key: str, value: object, of: str = "journey") -> Experiment:
    return apply_edit(preset(of), Edit(key, value))


@pytest.mark.parametrize(
    ("key", "value", "read"),
    [
        ("causal", True, lambda e: e.config.causal is True),
        ("scale", "none", lambda e: e.config.scale == "none"),
        ("scale", None, lambda e: e.config.scale == "none"),
        ("scale", 2, lambda e: e.config.scale == 2.0),
        ("n_heads", 2, lambda e: e.n_heads == 2),
        ("score", "additive", lambda e: e.config.score == "additive"),
        ("normalizer", "sparsemax", lambda e: e.config.normalizer == "sparsemax"),
        ("positions", "sinusoidal", lambda e: e.config.positions == "sinusoidal"),
        ("positions", None, lambda e: e.config.positions == "none"),
        ("temperature", 2, lambda e: e.config.option("temperature") == 2.0),
        ("fill", 0, lambda e: e.config.option("fill") == "0"),
        ("fill", "-1e9", lambda e: e.config.option("fill") == "-1e9"),
        ("fill", -1e9, lambda e: e.config.option("fill") == "-1e9"),
        ("window", 2, lambda e: dict(e.config.masks) == {"window": 2}),
        ("window", "none", lambda e: dict(e.config.masks) == {}),
        ("ablate", [0], lambda e: e.config.ablated == (0,)),
        ("ablate", [], lambda e: e.config.ablated == ()),
        ("n_kv_heads", None, lambda e: e.n_kv_heads == 1),
        ("output", True, lambda e: e.weights.W_o is not None),
        ("block", "before", lambda e: e.config.block == "before" and e.weights.W_o is not None),
        ("block", 2, lambda e: dict(e.config.masks) == {"block": 2} and e.config.block == "none"),
        ("block", "none", lambda e: e.config.block == "none"),
        ("block_norm", "rms", lambda e: e.config.block_norm == "rms"),
        ("feed_forward", None, lambda e: e.config.feed_forward == "none"),
        ("layer", 1, lambda e: e.layer == 0),
        ("biases", True, lambda e: e.weights.b_q is not None),
        ("T", 4, lambda e: e.T_q == 4),
        ("d_model", 5, lambda e: e.d_model == 5),
        ("d_k", 4, lambda e: e.d_k == 4),
        ("d_v", 4, lambda e: e.d_v == 4),
        ("valid", 4, lambda e: dict(e.config.masks) == {"padding": 4}),
        ("W_q[0, 1]", 7, lambda e: edits.table(e, "W_q")[0, 1] == 7),
        ("W_q[0, 1]", "1e-3", lambda e: edits.table(e, "W_q")[0, 1] == pytest.approx(1e-3)),
        ("W_q[0, :]", [7, 8], lambda e: edits.table(e, "W_q")[0].tolist() == [7, 8]),
        ("W_q[:, 1]", [7, 8, 9], lambda e: edits.table(e, "W_q")[:, 1].tolist() == [7, 8, 9]),
        ("W_q", [[1, 2], [3, 4], [5, 6]], lambda e: edits.table(e, "W_q").tolist() == [[1, 2], [3, 4], [5, 6]]),
        ("W_q", "zeros", lambda e: not edits.table(e, "W_q").any()),
        ("X[1, 0]", 7, lambda e: e.embeddings[1, 0] == 7),
        ('X["starts", 0]', 7, lambda e: e.embeddings[e.tokens.index("starts"), 0] == 7),
        ("embeddings[1, :]", [7, 8, 9], lambda e: e.embeddings[1].tolist() == [7, 8, 9]),
    ],
)
def test_an_edit_is_applied(key: str, value: object, read) -> None:  # type: ignore[no-untyped-def]
    assert read(after(key, value))


def test_a_mask_can_be_painted() -> None:
    rows = [[i != j for j in range(6)] for i in range(6)]
    assert after("mask", rows).config.mask.tolist() == rows  # type: ignore[union-attr]
    assert apply_edit(after("mask", rows), Edit("mask", None)).config.mask is None


def test_a_table_can_take_another_valid_shape() -> None:
    e = after("W_v", [[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    assert (e.d_v, e.weights.W_v.dtype) == (3, torch.float32)  # type: ignore[union-attr]


def test_tables_of_entries_and_biases_can_be_edited() -> None:
    e = apply_edit(after("score", "additive"), Edit("biases", True))
    name = next(name for name in edits.tables(e) if name in e.weights.extra and edits.shape(e, name)[0] > 1)
    assert edits.table(apply_edit(e, Edit(f"{name}[0, 0]", 3)), name)[0, 0] == 3
    assert apply_edit(e, Edit("b_q[1]", 3)).weights.b_q.tolist() == [0, 3]  # type: ignore[union-attr]
    assert apply_edit(e, Edit("b_q[:]", [2, 3])).weights.b_q.tolist() == [2, 3]  # type: ignore[union-attr]


def test_editing_a_sentence_keeps_the_vectors_of_its_words() -> None:
    e = preset("journey")
    for key, value in (("sentence", "starts Your engine"), ("tokens", ["starts", "Your", "engine"])):
        new = apply_edit(e, Edit(key, value))
        assert new.tokens == ("starts", "Your", "engine")
        assert torch.equal(new.embeddings[0], e.embeddings[2])
        assert torch.allclose(new.embeddings[2], word_vector("engine", e.d_model).to(e.embeddings.dtype))


def test_a_second_sequence_can_be_added_and_removed() -> None:
    e = after("memory", "Une phrase")
    assert (e.memory_tokens, e.T_k) == (("Une", "phrase"), 2)
    assert apply_edit(e, Edit("T_k", 3)).T_k == 3
    for nothing in ("none", None, False):
        assert apply_edit(e, Edit("memory", nothing)).memory_tokens is None


def test_valid_lengths_apply_to_the_whole_batch() -> None:
    batch = next(name for name in attnlab.presets() if preset(name).n_items > 1)
    e = preset(batch)
    lengths = [1 + i % 2 for i in range(e.n_items)]
    assert [sample.length for sample in items(apply_edit(e, Edit("valid", lengths)))] == lengths
    assert apply_edit(e, Edit("item", e.n_items - 1)).item == e.n_items - 1
    with pytest.raises(ExperimentError, match=f"valid has 1 length; there are {e.n_items} sequences"):
        apply_edit(e, Edit("valid", [1]))


def test_a_seed_draws_all_numbers_like_the_worked_examples() -> None:
    e = preset("causal-5x8")
    new, again, other = reseed(e, 3), reseed(e, 3), reseed(e, 4)
    for name in edits.tables(e):
        assert torch.equal(edits.table(new, name), edits.table(again, name))
        assert not torch.equal(edits.table(new, name), edits.table(other, name))
    torch.manual_seed(3)
    assert torch.equal(new.embeddings, torch.randn(e.T_q, e.d_model))
    assert torch.equal(edits.table(new, "W_q"), torch.randn(*edits.shape(e, "W_q")) / e.d_model**0.5)
    assert reseed(preset("journey-untrained"), 3).weights.W_q is None


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("casual", True, "did you mean causal?"),
        ("W_x[0, 0]", 1, "to edit; did you mean W_"),
        ("W_o[0, 0]", 1, "This state has no W_o; it has embeddings, W_q"),
        ("causal", "yes", "it needs True or False"),
        ("n_heads", 7, "n_heads"),
        ("n_kv_heads", 3, "n_kv_heads is 3"),
        ("n_kv_heads", 0.5, "it needs a whole number"),
        ("scale", "sqrt", "scale"),
        ("score", "dott", "dot"),
        ("temperature", -1, "above 0"),
        ("output", 1, "output is '1'; it needs true or false."),
        ("T", 0, "T is 0; it needs a whole number from 1"),
        ("T", "six", "T is 'six'; it needs a whole number."),
        ("T_k", 4, "T_k equals T without a second sequence"),
        ("d_k", 2.5, "it needs a whole number"),
        ("tokens", {"a": 1}, "it needs a sentence, or a list of tokens"),
        ("sentence", "", "The sentence is empty"),
        ("seed", -1, "seed is -1; it needs"),
        ("W_q[0]", 1, "is not a cell; W_q[0, 1] is one"),
        ("W_q[9, 0]", 1, "The row of W_q is 9; it needs a number from 0 to 2"),
        ("W_q[-1, 0]", 1, "The row of W_q is -1"),
        ('X["a, b", 0]', 1, "“a, b”; there are “Your”"),
        ('X["nobody", 0]', 1, "“nobody”; there are “Your”"),
        ("W_q[0, :]", [1], "got 1 numbers; it needs 2."),
        ("W_q[0, 1]", [1, 2], "got 2 numbers; it needs 1."),
        ("W_q[0, 1]", "much", "it needs numbers"),
        ("W_q[0, 1]", True, "it needs numbers"),
        ("W_q[0, 1]", float("inf"), "it needs a number from"),
        ("W_q", [[1, 2], [3]], "in rows of equal length"),
        ("W_q", [], "it needs numbers"),
        ("embeddings", [[1, 2, 3]], "tokens"),
        ("valid", 99, "valid length"),
    ],
)
def test_an_invalid_edit_is_refused_with_valid_values(key: str, value: object, says: str) -> None:
    with pytest.raises(AttnlabError) as raised:
        after(key, value)
    assert says in str(raised.value)


def lesson_of(*steps: Step, path: Path | None = None) -> Lesson:
    return Lesson("own", "Own", steps, path=path)


def test_an_invalid_edit_is_a_problem_on_its_line_and_the_rest_is_applied() -> None:
    step = Step("One", preset="journey", edits=(Edit("causal", True, 7), Edit("casual", True, 8), Edit("scale", 2, 9)))
    lesson = lesson_of(step)
    (slide,) = make_slides(lesson)
    assert slide.experiment is not None
    assert (slide.experiment.config.causal, slide.experiment.config.scale) == (True, 2.0)
    (problem,) = check(lesson)
    assert problem.line == 8
    assert "did you mean causal?" in problem.reason


def test_edits_need_an_initial_state() -> None:
    (problem,) = check(lesson_of(Step("One", edits=(Edit("causal", True, 7),))))
    assert problem == Problem(7, "There is nothing to edit yet; start the state with a preset or a file.")


def test_a_session_is_found_beside_the_lesson(tmp_path: Path) -> None:
    e = after("causal", True)
    attnlab.save(e, tmp_path / "mine.attnlab")
    step = Step("One", file="mine.attnlab", edits=(Edit("scale", 2),))
    (slide,) = make_slides(lesson_of(step, path=tmp_path / "own.md"))
    assert slide.experiment is not None
    assert slide.experiment.config.causal
    assert slide.experiment.config.scale == 2.0
    assert torch.equal(slide.experiment.embeddings, e.embeddings)


def test_a_missing_session_affects_only_the_state_of_its_step(tmp_path: Path) -> None:
    lesson = lesson_of(
        Step("One", preset="journey"), Step("Two", file="lost.attnlab", line=9), path=tmp_path / "own.md"
    )
    one, two = make_slides(lesson)
    assert two.experiment is one.experiment
    (problem,) = check(lesson)
    assert problem.line == 9
    assert "lost.attnlab" in problem.reason
    (unsaved,) = check(lesson_of(Step("One", file="lost.attnlab", line=3)))
    assert "save the lesson first" in unsaved.reason


keys = st.one_of(
    st.sampled_from(
        [
            *_FIELDS,
            *_SPECIAL,
            *_list_sizes(),
            *registry.all_options(),
            *MASKS,
            *edits.tables(preset("journey")),
            "X",
            "W_o",
        ]
    ),
    st.builds(
        "{}[{}, {}]".format,
        st.sampled_from(["W_q", "X", "b_q", "embeddings"]),
        *[st.sampled_from(["0", "9", ":", "", '"Your"'])] * 2,
    ),
    st.text(max_size=5),
)
plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 40),
    st.floats(),
    st.text(max_size=4),
    st.sampled_from(["none", "0", "zeros"]),
)
values = st.one_of(
    plain, st.lists(plain, max_size=4), st.lists(st.lists(plain, max_size=3), max_size=3), st.just({"a": 1})
)


@given(st.lists(st.tuples(keys, values), max_size=3))
def test_any_edit_is_applied_or_refused_in_a_sentence(made: list[tuple[str, object]]) -> None:
    e = preset("journey")
    for key, value in made:
        try:
            e = apply_edit(e, Edit(key, value))
        except AttnlabError as error:
            refused = str(error)
        else:
            refused = ""
        assert refused == "" or refused.endswith((".", "?"))


def test_a_state_too_large_to_compute_is_a_problem_and_is_not_computed() -> None:
    sizes = (Edit("d_k", 64), Edit("d_v", 64), Edit("n_heads", 512), Edit("T", 512))
    step = Step("One", "{{weights[0, 0]}}", preset="multi-head-8", edits=sizes, line=3)
    (problem,) = check(lesson_of(step))
    assert "GiB" in problem.reason
    assert problem.line == 3


def test_a_block_and_a_mask_of_blocks_are_switched_off_one_by_one() -> None:
    both = apply_edit(after("block", "after"), Edit("block", 2))
    assert (both.config.block, dict(both.config.masks)) == ("after", {"block": 2})
    block = apply_edit(both, Edit("block", "none"))
    assert (block.config.block, dict(block.config.masks)) == ("after", {})
    assert apply_edit(block, Edit("block", "none")).config.block == "none"


def test_edits_of_a_stack_change_the_layer_that_is_chosen() -> None:
    e = apply_edit(apply_edit(preset("induction"), Edit("layer", 1)), Edit("W_q[4, 0]", 7))
    assert e.layer == 0
    assert edits.table(e, "W_q")[4, 0] == 7
    with pytest.raises(ExperimentError, match="There is no layer 3; they are numbered from 1 to 2"):
        apply_edit(e, Edit("layer", 3))
