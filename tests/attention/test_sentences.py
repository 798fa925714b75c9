"""Edits of tokens in any script: kept tokens keep their numbers, and new ones get their own."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import attnlab
from attnlab.attention.edits import token_edits


def layer(
    *tokens: str, mask: Any = None, cross: bool = False, dtype: torch.dtype = torch.float32
) -> attnlab.Experiment:
    """Return tokens with the embeddings 0, 1, 2, … in both columns, so that each row identifies its token."""
    rows = torch.arange(len(tokens), dtype=dtype)[:, None].expand(-1, 2)
    return attnlab.Experiment(
        tokens=tokens,
        embeddings=rows,
        config=attnlab.AttentionConfig(mask=mask),
        memory_tokens=("x", "y") if cross else None,
        memory_embeddings=[[1.0, 2.0], [3.0, 4.0]] if cross else None,
    )


def rows(e: attnlab.Experiment) -> list[float | None]:
    """Return the row of :func:`layer` of each embedding; None for a new one."""
    assert len(e.embeddings) == e.T_q
    return [float(a) if a == b else None for a, b in e.embeddings.tolist()]


def vector(word: str) -> list[float]:
    made: list[float] = token_edits.word_vector(word, 2).float().tolist()
    return made


# --- words ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Your journey starts", ("Your", "journey", "starts")),
        ("  spaces\tand\nlines  ", ("spaces", "and", "lines")),
        ("the cat sat.", ("the", "cat", "sat.")),
        ("שלום עולם", ("שלום", "עולם")),
        ("السلام عليكم", ("السلام", "عليكم")),
        ("我爱猫", ("我", "爱", "猫")),
        ("你好，世界。", ("你", "好", "，", "世", "界", "。")),
        ("ねこ と neko", ("ね", "こ", "と", "neko")),
        ("か\u3099き", ("か\u3099", "き")),
        ("👩‍👩‍👧 🇮🇱 ok👍🏽", ("👩‍👩‍👧", "🇮🇱", "ok👍🏽")),
        ("नमस्ते दुनिया", ("नमस्ते", "दुनिया")),
        ("한국어 문장", ("한국어", "문장")),
        ("𠮷野", ("𠮷", "野")),
        ("", ()),
        ("   ", ()),
    ],
)
def test_sentences_in_any_script_are_split_into_tokens(text: str, tokens: tuple[str, ...]) -> None:
    assert token_edits.tokenize(text) == tokens


@given(st.text())
def test_joining_tokens_and_splitting_them_again_loses_nothing(text: str) -> None:
    tokens = token_edits.tokenize(text)
    assert "".join(tokens) == "".join(text.split())
    assert token_edits.tokenize(token_edits.sentence(tokens)) == tokens
    assert all(tokens)


def test_each_word_has_its_own_vector_everywhere() -> None:
    before = torch.get_rng_state()
    first = token_edits.word_vector("猫", 5)
    torch.set_default_dtype(torch.float64)
    try:
        with torch.device("meta"):
            second = token_edits.word_vector("猫", 5)
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.equal(first, second)
    assert first.dtype == torch.float64
    assert not torch.equal(first, token_edits.word_vector("狗", 5))
    assert torch.equal(torch.get_rng_state(), before)
    assert token_edits.word_vector("\ud800", 3).isfinite().all()


# --- a sentence typed -----------------------------------------------------------------------------------------------


def test_kept_words_keep_their_vectors_and_new_ones_get_their_own() -> None:
    e = layer("the", "cat", "sat")
    after = token_edits.set_tokens(e, ["the", "old", "cat", "sat"])
    assert after.tokens == ("the", "old", "cat", "sat")
    assert rows(after) == [0, None, 1, 2]
    assert after.embeddings[1].tolist() == vector("old")


def test_entering_the_same_sentence_changes_nothing() -> None:
    e = layer("the", "cat", mask=torch.eye(2).bool())
    after = token_edits.set_tokens(e, ("the", "cat"))
    assert after.embeddings is e.embeddings
    assert after.config is e.config
    assert after.weights is e.weights


def test_moved_words_keep_their_vectors() -> None:
    assert rows(token_edits.set_tokens(layer("a", "b", "c", "d"), ["d", "b", "c", "a"])) == [3, 1, 2, 0]


@pytest.mark.parametrize(
    ("old", "new", "sources"),
    [
        (["the", "cat", "the"], ["cat", "the"], [1, 2]),  # the first "the" went
        (["the", "cat", "the"], ["the", "cat"], [0, 1]),
        (["the", "the"], ["the", "the", "the"], [0, 1, 0]),  # more often than before: as the first
        (["a", "the", "b", "the"], ["the", "b", "a", "the"], [3, 2, 0, 1]),  # "a the" moved as one
    ],
)
def test_repeated_words_keep_their_own_vectors(old: list[str], new: list[str], sources: list[int]) -> None:
    assert rows(token_edits.set_tokens(layer(*old), new)) == sources


@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=6), st.lists(st.sampled_from("abcd"), min_size=1, max_size=6)
)
def test_every_word_has_the_vector_of_its_text(old: list[str], new: list[str]) -> None:
    after = token_edits.set_tokens(layer(*old), new)
    assert after.tokens == tuple(new)
    for token, source, row in zip(new, rows(after), after.embeddings.tolist(), strict=True):
        assert row == vector(token) if source is None else old[int(source)] == token
    for token in set(old) & set(new):  # no vector is lost while its word has a place for it
        taken = {source for source, word in zip(rows(after), new, strict=True) if word == token}
        assert len(taken) == min(old.count(token), new.count(token))


def test_an_empty_sentence_is_refused() -> None:
    with pytest.raises(attnlab.ExperimentError, match="at least one"):
        token_edits.set_tokens(layer("a"), [])


@pytest.mark.parametrize(
    "edit",
    [
        lambda e: token_edits.set_tokens(e, ["a"] * 513),
        lambda e: token_edits.add_token(e, "b"),
        lambda e: token_edits.duplicate_token(e, 0),
        lambda e: token_edits.resize_tokens(e, 513),
    ],
)
def test_too_many_tokens_are_refused(edit: Any) -> None:
    with pytest.raises(attnlab.ExperimentError, match="512"):
        edit(layer(*["a"] * 512))


# --- one token ------------------------------------------------------------------------------------------------------


def test_tokens_can_be_added_removed_duplicated_moved_and_renamed() -> None:
    e = layer("a", "b", "c")
    assert rows(token_edits.add_token(e, "new")) == [0, 1, 2, None]
    assert rows(token_edits.add_token(e, "new", 0)) == [None, 0, 1, 2]
    assert rows(token_edits.add_token(e, "b", 1)) == [0, 1, 1, 2]
    assert rows(token_edits.remove_token(e, 1)) == [0, 2]
    assert rows(token_edits.duplicate_token(e, 1)) == [0, 1, 1, 2]
    assert token_edits.move_token(e, 0, 2).tokens == ("b", "c", "a")
    assert rows(token_edits.move_token(e, 2, 0)) == [2, 0, 1]
    renamed = token_edits.rename_token(e, 1, "猫")
    assert renamed.tokens == ("a", "猫", "c")
    assert renamed.embeddings is e.embeddings


def test_the_last_token_cannot_be_removed() -> None:
    with pytest.raises(attnlab.ExperimentError, match="only token"):
        token_edits.remove_token(layer("a"), 0)


def test_the_number_of_tokens_can_be_set() -> None:
    e = layer("a", "b", "c")
    assert token_edits.resize_tokens(e, 2).tokens == ("a", "b")
    grown = token_edits.resize_tokens(e, 5)
    assert grown.tokens == ("a", "b", "c", "token4", "token5")
    assert rows(grown)[:3] == [0, 1, 2]
    assert grown.embeddings[4].tolist() == vector("token5")
    for count in (0, -1):
        with pytest.raises(attnlab.ExperimentError, match=f"T is {count}"):
            token_edits.resize_tokens(e, count)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_new_tokens_have_the_dtype_of_the_others(dtype: torch.dtype) -> None:
    assert token_edits.add_token(layer("a", dtype=dtype), "b").embeddings.dtype == dtype


def test_token_edits_share_the_weights_and_keep_the_first_experiment() -> None:
    e = layer("a", "b")
    for after in (
        token_edits.set_tokens(e, ["b", "c"]),
        token_edits.add_token(e, "c"),
        token_edits.resize_tokens(e, 1),
    ):
        assert after.weights is e.weights
    assert e.tokens == ("a", "b")
    assert rows(e) == [0, 1]


# --- masks ----------------------------------------------------------------------------------------------------------

MASK = [[True, False, False], [True, True, False], [False, True, True]]


def mask_after(edit: Any, cross: bool = False) -> list[list[bool]]:
    e = layer("a", "b", "c", mask=[row[:2] for row in MASK] if cross else MASK, cross=cross)
    after = edit(e)
    assert after.config.mask is not None
    made: list[list[bool]] = after.config.mask.tolist()
    return made


def test_a_painted_mask_follows_its_tokens() -> None:
    assert mask_after(lambda e: token_edits.remove_token(e, 1)) == [[True, False], [False, True]]
    assert mask_after(lambda e: token_edits.move_token(e, 0, 2)) == [
        [True, False, True],
        [True, True, False],
        [False, False, True],
    ]
    assert mask_after(lambda e: token_edits.rename_token(e, 0, "z")) == MASK


def test_a_new_token_is_not_masked() -> None:
    expected = [[True, True, False, False], [True] * 4, [True, True, True, False], [False, True, True, True]]
    assert mask_after(lambda e: token_edits.add_token(e, "new", 1)) == expected
    assert mask_after(lambda e: token_edits.set_tokens(e, ["a", "new", "b", "c"])) == expected


def test_a_mask_over_a_second_sequence_keeps_its_columns() -> None:
    assert mask_after(lambda e: token_edits.remove_token(e, 0), cross=True) == [[True, True], [False, True]]
    assert mask_after(lambda e: token_edits.add_token(e, "n", 0), cross=True)[0] == [True, True]


# Typing on in a sentence


def _kept(e: attnlab.Experiment, text: str) -> list[tuple[str, int | None]]:
    """Return each token of the retyped sentence with the index of the token whose vector it kept; None if new."""
    now = token_edits.retype(e, text)
    rows = [row.tolist() for row in e.embeddings]
    return [
        (token, rows.index(row.tolist()) if row.tolist() in rows else None)
        for token, row in zip(now.tokens, now.embeddings, strict=True)
    ]


@pytest.mark.parametrize(
    ("tokens", "text", "kept"),
    [
        (
            ("New York", "", "你好", "is"),
            "New York  你好 is big",
            [("New York", 0), ("", 1), ("你好", 2), ("is", 3), ("big", None)],
        ),
        (("New York", "is"), "So New York is", [("So", None), ("New York", 0), ("is", 1)]),
        (("New York", "is"), "New Yorks is", [("New", None), ("Yorks", None), ("is", 1)]),
        (("a", "", "b"), "a b", [("a", 0), ("b", 2)]),
        (("a", "b"), "ab", [("ab", None)]),
        (("a", "b", "a"), "b a", [("b", 1), ("a", 2)]),
        (("你", "好"), "你 好吗", [("你", 0), ("好", 1), ("吗", None)]),
        (("a", "b c", "d"), "d b c", [("d", 2), ("b", None), ("c", None)]),
    ],
)
def test_typing_splits_only_the_edited_token(
    tokens: tuple[str, ...], text: str, kept: list[tuple[str, int | None]]
) -> None:
    e = attnlab.Experiment(tokens, [[float(i), 1.0] for i in range(len(tokens))])
    assert _kept(e, text) == kept


@pytest.mark.parametrize("text", ["a b c", "a b c ", " a b c", "a b c   "])
def test_typing_that_keeps_the_tokens_keeps_the_experiment(text: str) -> None:
    e = attnlab.Experiment(("a", "b c"), [[1.0], [2.0]])
    assert token_edits.retype(e, text) is e


@given(st.lists(st.text("ab 你", max_size=3), min_size=1, max_size=5), st.text("ab 你", max_size=8))
def test_any_typed_text_becomes_a_sentence_or_is_refused(tokens: list[str], text: str) -> None:
    e = attnlab.Experiment(tokens, [[float(i)] for i in range(len(tokens))])
    try:
        now = token_edits.retype(e, text)
    except attnlab.ExperimentError:
        assert not text.strip()
        return
    assert "".join(now.tokens).replace(" ", "") == text.replace(" ", "")


def test_a_new_token_gets_an_unused_name() -> None:
    e = attnlab.Experiment(("token3", "x"), [[1.0], [2.0]])
    now = token_edits.resize_tokens(e, 4)
    assert now.tokens == ("token3", "x", "token4", "token5")
    assert 1.0 not in now.embeddings[2:]
