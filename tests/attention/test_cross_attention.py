"""Cross-attention compared with torch's own layer, and edits of the second sequence."""

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import attnlab
from attnlab.attention import edits
from attnlab.attention.edits import batches, token_edits
from attnlab.attention.edits.second_sequence import toggle_memory
from attnlab.attention.experiment import Experiment, Sample

few = settings(deadline=None, max_examples=40)


@given(
    t=st.lists(st.tuples(st.integers(1, 6), st.integers(1, 7)), min_size=1, max_size=3),
    heads=st.integers(1, 3),
    size=st.integers(1, 4),
    widths=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    seed=st.integers(0, 9999),
)
@few
def test_padded_batches_of_cross_attention_agree_with_torch(
    t: list[tuple[int, int]], heads: int, size: int, widths: tuple[int, int], seed: int
) -> None:
    g = torch.Generator().manual_seed(seed)
    d_memory, d_model = widths[0], heads * size
    layer = torch.nn.MultiheadAttention(
        d_model, heads, kdim=d_memory, vdim=d_memory, batch_first=True, dtype=torch.float64
    )
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=g, dtype=torch.float64))
    draws = [
        [torch.randn(n, d, generator=g, dtype=torch.float64) for n, d in ((t_q, d_model), (t_k, d_memory))]
        for t_q, t_k in t
    ]
    e = batches.make_batch(
        [Sample(["q"] * len(x), x, ["k"] * len(m), m) for x, m in draws],
        weights_of(layer),
        attnlab.AttentionConfig(n_heads=heads),
    )
    padded = batches.items(e)
    missing = torch.tensor([[j >= t_k for j in range(e.T_k)] for _, t_k in t])
    x, m = torch.stack([s.embeddings for s in padded]), torch.stack([batches.sequence(s, "memory")[1] for s in padded])
    output, weights = layer(x, m, m, key_padding_mask=missing, average_attn_weights=False)
    for item in range(e.n_items):
        trace = attnlab.compute(batches.select(e, item), dtype="float64")
        torch.testing.assert_close(trace["weights"], weights[item].detach(), atol=1e-10, rtol=1e-10)
        torch.testing.assert_close(trace["output"], output[item].detach(), atol=1e-10, rtol=1e-10)


def weights_of(layer: Any) -> attnlab.Weights:
    names = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
    matrices = layer.in_proj_weight.chunk(3) if layer.in_proj_weight is not None else [getattr(layer, n) for n in names]
    q, k, v = (matrix.detach().T for matrix in matrices)
    b_q, b_k, b_v = layer.in_proj_bias.detach().chunk(3)
    return attnlab.Weights(q, k, v, layer.out_proj.weight.detach().T, b_q, b_k, b_v, layer.out_proj.bias.detach())


# --- a second sequence, put in and taken out -------------------------------------------------------------------------


def journey(**config: Any) -> Experiment:
    return edits.configure(attnlab.preset("journey"), **config)


@given(padding=st.none() | st.integers(1, 6), causal=st.booleans(), hidden=st.none() | st.integers(0, 5))
@few
def test_a_new_second_sequence_is_a_copy_and_changes_no_number(
    padding: int | None, causal: bool, hidden: int | None
) -> None:
    e = journey(causal=causal, masks={} if padding is None else {"padding": padding})
    e = e if hidden is None else token_edits.toggle_key(e, hidden)
    cross = toggle_memory(e, True)
    assert (cross.memory_tokens, cross.memory_embeddings) == (e.tokens, e.embeddings)
    assert toggle_memory(cross, True) is cross
    for stage in ("keys", "values", "weights", "output"):
        assert torch.equal(attnlab.compute(cross)[stage], attnlab.compute(e)[stage])
    back = toggle_memory(cross, False)
    assert back.memory_tokens is None
    assert torch.equal(attnlab.compute(back)["output"], attnlab.compute(e)["output"])


def test_a_second_sentence_may_have_another_length() -> None:
    e = token_edits.retype(toggle_memory(journey(), True), "le chat dort", "memory")
    assert (e.T_q, e.T_k, e.memory_tokens) == (6, 3, ("le", "chat", "dort"))
    trace = attnlab.compute(e)
    assert list(trace["weights"].shape) == [1, 6, 3]
    assert list(trace["output"].shape) == [6, 2]
    np_vector = token_edits.word_vector("chat", 3).float()
    assert torch.equal(e.memory[1], np_vector)
    assert e.tokens == journey().tokens
    back = toggle_memory(e, False)
    assert list(attnlab.compute(back)["weights"].shape) == [1, 6, 6]


def test_tokens_of_the_second_sequence_can_be_edited() -> None:
    e = toggle_memory(journey(), True)
    first, memory = e.embeddings, e.embeddings.tolist()
    moved = token_edits.move_token(e, 0, 5, "memory")
    assert moved.memory.tolist() == [*memory[1:], memory[0]]
    removed = token_edits.remove_token(e, 1, "memory")
    assert removed.memory.tolist() == [memory[0], *memory[2:]]
    doubled = token_edits.duplicate_token(e, 1, "memory")
    assert doubled.memory.tolist() == [*memory[:2], *memory[1:]]
    renamed = token_edits.rename_token(e, 1, "trip", "memory")
    assert renamed.memory_tokens == ("Your", "trip", "starts", "with", "one", "step")
    assert renamed.memory is e.memory
    grown = token_edits.append_token(e, "memory")
    assert (grown.T_k, grown.key_tokens[-1]) == (7, "token7")
    for changed in (moved, removed, doubled, renamed, grown, token_edits.resize_tokens(e, 2, "memory")):
        assert changed.embeddings is first
        assert changed.tokens == e.tokens
    with pytest.raises(attnlab.ExperimentError, match="T_k is 0; it needs a whole number from 1 to 512"):
        token_edits.resize_tokens(e, 0, "memory")
    with pytest.raises(attnlab.ExperimentError, match="The sentence is empty"):
        token_edits.retype(e, " ", "memory")


def test_a_painted_mask_follows_query_edits_by_row_and_key_edits_by_column() -> None:
    mask = torch.ones(6, 6, dtype=torch.bool)
    mask[1, 2] = False
    e = toggle_memory(journey(mask=mask), True)
    fewer = token_edits.remove_token(token_edits.remove_token(e, 0), 0, "memory")
    assert fewer.config.mask is not None
    assert (~fewer.config.mask).nonzero().tolist() == [[0, 1]]
    wider = token_edits.add_token(e, "x", 0, "memory")
    assert wider.config.mask is not None
    assert (~wider.config.mask).nonzero().tolist() == [[1, 3]]
    back = toggle_memory(token_edits.resize_tokens(e, 2), False)
    assert back.config.mask is not None
    assert tuple(back.config.mask.shape) == (2, 2)


def test_each_sequence_of_a_batch_gets_its_own_memory() -> None:
    samples = [Sample(tuple(text), torch.ones(len(text), 2) * i) for i, text in enumerate(("ab", "cd"))]
    e = toggle_memory(batches.make_batch(samples), on=True)
    assert [batches.select(e, item).memory_tokens for item in (0, 1)] == [("a", "b"), ("c", "d")]
    assert batches.select(e, 1).memory.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_removing_the_second_sequence_allows_new_keys_except_pads() -> None:
    mask = torch.ones(3, 2, dtype=torch.bool)
    mask[0, 1] = False
    e = Experiment(
        ("a", "b", batches.PAD),
        torch.ones(3, 2),
        config=attnlab.AttentionConfig(mask=mask),
        memory_tokens=("x", "y"),
        memory_embeddings=torch.ones(2, 2),
    )
    alone = toggle_memory(e, on=False)
    assert alone.config.mask is not None
    assert (~alone.config.mask).nonzero().tolist() == [[0, 1]]
    assert dict(alone.config.masks) == {"padding": 2}


def test_a_memory_of_another_width_cannot_be_removed_and_the_error_says_why() -> None:
    e = edits.resize(toggle_memory(journey(), True), d_memory=5)
    assert edits.shape(e, "W_k") == (5, 2)
    assert torch.equal(attnlab.compute(e)["output"], attnlab.compute(journey())["output"])
    with pytest.raises(attnlab.ExperimentError, match=r"W_k and W_v have 5 rows.* set d_memory to 3 first"):
        toggle_memory(e, False)
    assert toggle_memory(edits.resize(e, d_memory=3), False).memory_tokens is None


def test_a_batch_moves_its_padding_to_the_memory_and_back() -> None:
    e = batches.make_batch([Sample(tuple(words), torch.ones(len(words), 2)) for words in ("abc", "a")])
    e = batches.select(e, 1)
    cross = toggle_memory(e, True)
    assert cross.config.masks["padding"] == 1
    longer = token_edits.retype(cross, "x y z w", "memory")
    assert (longer.T_q, longer.T_k, dict(longer.config.masks)) == (3, 4, {})
    assert [s.length for s in batches.items(longer)] == [3, None]
    asked = token_edits.retype(longer, "p q")
    assert [asked.tokens, batches.select(asked, 0).tokens] == [("p", "q", "[pad]"), ("a", "b", "c")]
    back = toggle_memory(asked, False)
    assert [s.length for s in batches.items(back)] == [None, 2]
    assert torch.equal(attnlab.compute(toggle_memory(cross, False))["weights"], attnlab.compute(e)["weights"])


# --- one key hidden from all -----------------------------------------------------------------------------------------


def test_a_key_can_be_hidden_from_every_query_and_shown_again() -> None:
    e = journey()
    once = token_edits.toggle_key(e, 2)
    assert token_edits.find_masked_keys(once) == {2}
    assert (attnlab.compute(once)["weights"][..., 2] == 0).all()
    twice = token_edits.toggle_key(once, 4)
    assert token_edits.find_masked_keys(twice) == {2, 4}
    assert token_edits.find_masked_keys(token_edits.toggle_key(twice, 2)) == {4}
    assert token_edits.toggle_key(once, 2).config.mask is None
    painted = edits.configure(e, mask=torch.eye(6, dtype=torch.bool))
    assert token_edits.find_masked_keys(painted) == set()
    assert token_edits.find_masked_keys(token_edits.toggle_key(painted, 0)) == {0}
