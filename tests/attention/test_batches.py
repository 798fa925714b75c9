"""Batches: sequences do not affect each other, switching between them loses nothing, and all have equal lengths."""

from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import attnlab
from attnlab.attention import edits
from attnlab.attention.edits import batches, token_edits
from attnlab.attention.edits.batches import PAD
from attnlab.attention.edits.second_sequence import toggle_memory
from attnlab.attention.experiment import Experiment, Sample
from attnlab.attention.registries.losses import find_pair

few = settings(deadline=None, max_examples=40)


def words(count: int, letter: str = "w") -> tuple[str, ...]:
    return tuple(f"{letter}{i}" for i in range(count))


def sample(tokens: str, memory: str | None = None) -> Sample:
    """Return a sequence of one-letter words with their embeddings, d_model 4."""
    rows = torch.stack([token_edits.word_vector(token, 4) for token in tokens])
    keys = None if memory is None else torch.stack([token_edits.word_vector(token, 4) for token in memory])
    return Sample(tuple(tokens), rows, None if memory is None else tuple(memory), keys)


def batch(*tokens: str, **config: Any) -> Experiment:
    return batches.make_batch([sample(each) for each in tokens], config=attnlab.AttentionConfig(**config))


def valid(e: Experiment) -> list[str]:
    """Return the valid tokens of every sequence."""
    return ["".join(batches.list_unpadded_tokens(batches.select(e, item))) for item in range(e.n_items)]


def check_sizes(e: Experiment) -> None:
    longest = max(map(len, valid(e)))
    assert e.T_q == longest
    for item in range(e.n_items):
        one = batches.select(e, item)
        assert one.tokens == (*batches.list_unpadded_tokens(one), *[PAD] * (longest - len(valid(e)[item])))


# --- against the sequences alone ------------------------------------------------------------------------------------


@st.composite
def padded(draw: st.DrawFn) -> tuple[list[Sample], attnlab.Weights, attnlab.AttentionConfig]:
    """Sequences of unequal length, random weights of several heads, with or without a memory and the causal mask."""
    lengths = draw(st.lists(st.integers(1, 7), min_size=1, max_size=4))
    cross, h = draw(st.booleans()), draw(st.integers(1, 3))
    g = torch.Generator().manual_seed(draw(st.integers(0, 9999)))

    def randn(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=g, dtype=torch.float64)

    d_memory = 5 if cross else 4
    samples = [
        Sample(words(3), randn(3, 4), words(n, "m"), randn(n, 5)) if cross else Sample(words(n), randn(n, 4))
        for n in lengths
    ]
    weights = attnlab.Weights(randn(4, h * 2), randn(d_memory, h * 2), randn(d_memory, h * 3), randn(h * 3, 4))
    return samples, weights, attnlab.AttentionConfig(n_heads=h, causal=draw(st.booleans()))


@given(padded())
@few
def test_padding_does_not_change_a_sequences_attention(
    made: tuple[list[Sample], attnlab.Weights, attnlab.AttentionConfig],
) -> None:
    samples, weights, config = made
    e = batches.make_batch(samples, weights, config)
    for item, one in enumerate(samples):
        alone = Experiment(one.tokens, one.embeddings, weights, config, one.memory_tokens, one.memory_embeddings)
        here = attnlab.compute(batches.select(e, item), dtype="float64")
        there = attnlab.compute(alone, dtype="float64")
        n_q, n_k = alone.T_q, alone.T_k
        assert here["weights"].shape[-2:] == (e.T_q, e.T_k)
        torch.testing.assert_close(here["weights"][:, :n_q, :n_k], there["weights"], atol=1e-10, rtol=1e-10)
        torch.testing.assert_close(here["output"][:n_q], there["output"], atol=1e-10, rtol=1e-10)
        assert (here["weights"][..., n_k:] == 0).all()
        sums = here["weights"].sum(-1)
        torch.testing.assert_close(sums, torch.ones_like(sums), atol=1e-10, rtol=1e-10)


@given(padded(), st.data())
@few
def test_switching_between_sequences_loses_nothing(
    made: tuple[list[Sample], attnlab.Weights, attnlab.AttentionConfig], data: st.DataObject
) -> None:
    e = batches.make_batch(*made)
    before = batches.items(e)
    for _ in range(3):
        e = batches.select(e, data.draw(st.integers(0, e.n_items - 1)))
        for was, now in zip(before, batches.items(e), strict=True):
            assert (now.tokens, now.memory_tokens, now.length) == (was.tokens, was.memory_tokens, was.length)
            assert now.embeddings is was.embeddings
            assert now.memory_embeddings is was.memory_embeddings


# --- padding --------------------------------------------------------------------------------------------------------


def test_shorter_sequences_are_padded_and_masked() -> None:
    e = batch("abc", "a", "abcde", causal=True)
    assert (e.tokens, dict(e.config.masks)) == (("a", "b", "c", PAD, PAD), {"padding": 3})
    assert e.config.causal
    assert (e.embeddings[3:] == 0).all()
    assert [other.length for other in e.others] == [1, None]
    longest = batches.select(e, 2)
    assert not longest.config.masks
    assert longest.item == 2
    assert [other.length for other in longest.others] == [3, 1]
    assert longest.embeddings is e.others[1].embeddings


def test_a_given_valid_length_is_kept() -> None:
    one = Sample(words(4), torch.ones(4, 2), length=2)
    e = batches.make_batch([one, Sample(words(6), torch.ones(6, 2))])
    assert e.config.masks["padding"] == 2
    assert batches.list_unpadded_tokens(e) == words(4)


@pytest.mark.parametrize(
    ("samples", "said"),
    [
        ([], "The batch is empty; it needs at least one sequence."),
        ([sample("ab"), sample("ab", "c")], "Some sequences of the batch have a memory and some have none"),
        ([sample("ab"), Sample(("a",), [[1.0]])], "it needs 2 by 4"),
    ],
)
def test_an_invalid_batch_is_refused(samples: list[Sample], said: str) -> None:
    with pytest.raises(attnlab.ExperimentError, match=said):
        batches.make_batch(samples)


# --- the tokens of a batch ------------------------------------------------------------------------------------------


def test_all_sequences_are_padded_to_the_longest() -> None:
    e = batch("abc", "a", "ab")
    longer = token_edits.retype(batches.select(e, 1), "a b c d e")
    check_sizes(longer)
    assert valid(longer) == ["abc", "abcde", "ab"]
    shorter = token_edits.retype(longer, "x")
    check_sizes(shorter)
    assert valid(shorter) == ["abc", "x", "ab"]
    assert shorter.T_q == 3


@given(st.lists(st.text("abc", min_size=1, max_size=5), min_size=1, max_size=4), st.data())
@few
def test_token_edits_keep_all_sequences_equally_long(texts: list[str], data: st.DataObject) -> None:
    e = batch(*texts)
    expected = list(texts)
    for _ in range(4):
        item = data.draw(st.integers(0, e.n_items - 1))
        e, text = batches.select(e, item), expected[item]
        at = data.draw(st.integers(0, len(text) - 1))
        match data.draw(st.sampled_from(["remove", "add", "move", "duplicate", "rename", "retype"])):
            case "remove" if len(text) > 1:
                e, text = token_edits.remove_token(e, at), text[:at] + text[at + 1 :]
            case "add":
                e, text = token_edits.add_token(e, "x", at), f"{text[:at]}x{text[at:]}"
            case "move":
                e, text = token_edits.move_token(e, at, 0), text[at] + text[:at] + text[at + 1 :]
            case "duplicate":
                e, text = token_edits.duplicate_token(e, at), text[: at + 1] + text[at:]
            case "rename":
                e, text = token_edits.rename_token(e, at, "y"), f"{text[:at]}y{text[at + 1 :]}"
            case "retype":
                text = data.draw(st.text("abc", min_size=1, max_size=6))
                e = token_edits.retype(e, " ".join(text))
        expected[item] = text
        assert valid(e) == expected
        check_sizes(e)


def test_appending_lengthens_one_sequence_and_setting_the_size_cuts_all() -> None:
    e = batch("ab", "abcd", "abc")
    e = token_edits.append_token(e)
    assert batches.list_unpadded_tokens(e) == ("a", "b", "token3")
    assert e.T_q == 4
    e = token_edits.resize_tokens(e, 2)
    assert valid(e) == ["ab", "ab", "ab"]
    assert not e.config.masks
    e = token_edits.resize_tokens(e, 3)
    assert valid(e) == ["abtoken3", "ab", "ab"]


def test_a_painted_mask_is_shared_by_the_sequences_and_keeps_its_place() -> None:
    mask = torch.ones(3, 3, dtype=torch.bool)
    mask[:, 1] = False
    e = batch("abc", "a", mask=mask)
    for changed in (token_edits.move_token(e, 1, 0), token_edits.add_token(batches.select(e, 1), "b")):
        assert changed.config.mask is not None
        assert torch.equal(changed.config.mask, mask)
    longer = token_edits.append_token(e)
    assert longer.config.mask is not None
    assert longer.config.mask.tolist() == [[True, False, True, True]] * 3 + [[True] * 4]
    cut = batches.remove_item(e, 0)
    assert cut.config.mask is not None
    assert cut.config.mask.tolist() == [[True]]


def test_removing_the_last_sequence_selects_the_one_before_it() -> None:
    e = batches.remove_item(batches.select(batch("abc", "de", "fg"), 2), 2)
    assert (valid(e), e.item, e.tokens) == (["abc", "de"], 1, ("d", "e", PAD))
    first = batches.remove_item(batch("abc", "de"), 0)
    assert (valid(first), first.item) == (["de"], 0)


def test_sequences_can_be_added_and_removed() -> None:
    e = batches.add_item(batch("abc", "a"))
    assert (valid(e), e.item) == (["abc", "abc", "a"], 1)
    e = token_edits.retype(e, "x y z w")
    assert (valid(e), e.T_q) == (["abc", "xyzw", "a"], 4)
    assert valid(batches.remove_item(e, 0)) == ["xyzw", "a"]
    assert batches.remove_item(e, 0).tokens == e.tokens
    e = batches.remove_item(e, 1)
    assert (valid(e), e.item, e.tokens) == (["abc", "a"], 1, ("a", PAD, PAD))
    e = batches.remove_item(e, 0)
    assert (e.tokens, e.item, e.others, dict(e.config.masks)) == (("a",), 0, (), {})
    with pytest.raises(attnlab.ExperimentError, match="This is the only sequence"):
        batches.remove_item(e, 0)


@pytest.mark.parametrize("place", [-1, 2, 99])
def test_an_index_outside_the_batch_is_refused(place: int) -> None:
    for edit in (batches.select, batches.remove_item):
        with pytest.raises(attnlab.ExperimentError, match=rf"There is no sequence {place}; they .* 0 to 1"):
            edit(batch("ab", "c"), place)
    with pytest.raises(attnlab.ExperimentError, match="There is no sequence 1; there is one, number 0"):
        batches.select(batch("ab"), 1)


def test_the_valid_length_can_be_set_and_the_full_length_means_none() -> None:
    e = batch("abcd", "ab")
    shorter = batches.set_length(e, 3)
    assert shorter.config.masks["padding"] == 3
    assert batches.list_unpadded_tokens(shorter) == tuple("abcd")
    assert not batches.set_length(shorter, 4).config.masks
    assert batches.set_length(e, 4) is e
    for wrong in (0, 5):
        with pytest.raises(attnlab.ExperimentError, match=rf"The valid length is {wrong}; it needs .* 1 to 4"):
            batches.set_length(e, wrong)


def test_resizing_tables_resizes_every_sequence() -> None:
    e = batches.make_batch([sample("abc", "xy"), sample("ab", "xyz")])
    with pytest.raises(attnlab.ExperimentError):
        edits.resize(e, d_memory=0)
    wide = edits.resize(e, d_model=6, d_memory=5)
    assert [tuple(s.embeddings.shape) for s in batches.items(wide)] == [(3, 6)] * 2
    assert [tuple(s.memory_embeddings.shape) for s in batches.items(wide) if s.memory_embeddings is not None] == [
        (3, 5)
    ] * 2
    assert edits.shape(wide, "W_k")[0] == 5
    assert torch.equal(wide.embeddings[:, :4], e.embeddings)


def test_editing_numbers_changes_only_the_current_sequence() -> None:
    e = batch("abc", "ab")
    changed = edits.set_block(e, "embeddings", 0, 0, [[7.0]])
    assert changed.others == e.others
    assert float(changed.embeddings[0, 0]) == 7


def test_explicit_padding_without_a_batch_is_kept() -> None:
    e = Experiment(words(5), torch.eye(5), config=attnlab.AttentionConfig(masks={"padding": 3}))
    assert batches.list_unpadded_tokens(e) == words(5)
    longer = token_edits.append_token(e)
    assert (longer.T_q, longer.config.masks["padding"]) == (6, 3)
    assert token_edits.remove_token(e, 0).config.masks["padding"] == 3
    assert not token_edits.resize_tokens(e, 3).config.masks


def test_a_single_sequence_keeps_its_padding() -> None:
    e = Experiment(("a", "b", PAD, PAD), torch.eye(4), config=attnlab.AttentionConfig(masks={"padding": 2}))
    assert batches.list_unpadded_tokens(e) == ("a", "b")
    longer = token_edits.retype(e, "a b c")
    assert (longer.tokens, dict(longer.config.masks)) == (("a", "b", "c", PAD), {"padding": 3})
    assert torch.equal(longer.embeddings[:2], e.embeddings[:2])
    shorter = token_edits.remove_token(e, 0)
    assert (shorter.tokens, dict(shorter.config.masks)) == (("b", PAD, PAD, PAD), {"padding": 1})
    assert (token_edits.resize_tokens(e, 3).tokens, token_edits.resize_tokens(e, 2).tokens) == (
        ("a", "b", PAD),
        ("a", "b"),
    )
    assert token_edits.resize_tokens(e, 3).config.masks["padding"] == 2
    assert not token_edits.resize_tokens(e, 2).config.masks
    full = token_edits.retype(e, "a b c d e")
    assert (full.T_q, dict(full.config.masks)) == (5, {})


def test_a_batch_survives_saving_and_loading(tmp_path: Path) -> None:
    for made in (batch("abc", "a", "ab", causal=True), batches.make_batch([sample("ab", "xyz"), sample("abc", "x")])):
        e = batches.select(made, 1)
        attnlab.save(e, tmp_path / "batch.attnlab")
        loaded = attnlab.load(tmp_path / "batch.attnlab")
        assert loaded.item == 1
        for was, now in zip(batches.items(e), batches.items(loaded), strict=True):
            assert (now.tokens, now.memory_tokens, now.length) == (was.tokens, was.memory_tokens, was.length)
            assert torch.equal(now.embeddings, was.embeddings)
        assert valid(loaded) == valid(e)


def find_words(e: attnlab.Experiment) -> tuple[str, str]:
    """Return the words of the weight that the loss of an experiment is about."""
    _, query, key = find_pair(e)
    return e.tokens[query], e.key_tokens[key]


def test_a_loss_stays_with_its_words() -> None:
    e = edits.configure(attnlab.preset("the-cat-sat"), loss="weight", loss_query=2, loss_key=1)
    assert find_words(e) == ("sat", "cat")
    assert find_words(token_edits.add_token(e, "So", 0)) == ("sat", "cat")
    assert find_words(token_edits.move_token(e, 2, 0)) == ("sat", "cat")
    assert find_words(token_edits.retype(e, "Look : The cat sat")) == ("sat", "cat")
    assert find_words(token_edits.remove_token(e, 0)) == ("sat", "cat")
    assert find_words(token_edits.remove_token(e, 1)) == ("sat", "sat"), "what is in the place of “cat” now"
    across = toggle_memory(e, True)
    assert find_words(token_edits.add_token(across, "So", 0, "memory")) == ("sat", "cat")
    assert find_words(token_edits.add_token(across, "So", 0)) == ("sat", "cat")


def test_a_wanted_output_moves_with_its_words() -> None:
    e = edits.configure(attnlab.preset("the-cat-sat"), loss="output")
    e = edits.with_table(e, "Y", torch.arange(12.0).view(3, 4))
    first = {"The": 0.0, "cat": 4.0, "sat": 8.0}
    for moved in (
        token_edits.add_token(e, "So", 0),
        token_edits.move_token(e, 2, 0),
        token_edits.remove_token(e, 0),
        token_edits.append_token(e),
        token_edits.resize_tokens(e, 2),
    ):
        assert moved.weights.extra["Y"][:, 0].tolist() == [first.get(token, 0.0) for token in moved.tokens]
        assert moved.weights.extra["Y"].shape == (moved.T_q, 4)
