"""Invalid options, masks, tables and batches are refused in one sentence, without a traceback."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import attnlab

X = np.random.default_rng(0).normal(size=(4, 6))
TOKENS = ("a", "b", "c", "d")
HUGE = 10**400


def config(**given: Any) -> Callable[[], object]:
    return lambda: attnlab.AttentionConfig(**given)


def layer(extra: dict[str, Any] | None = None, **given: Any) -> Callable[[], object]:
    return lambda: attnlab.Experiment(TOKENS, X, attnlab.Weights(extra=extra or {}), attnlab.AttentionConfig(**given))


def batch(others: Any, item: Any = 0) -> Callable[[], object]:
    return lambda: attnlab.Experiment(TOKENS, X, others=others, item=item)


REFUSED: list[tuple[Callable[[], object], str]] = [
    (config(ablated=0), "ablated is 0; it needs numbers of heads, such as (0, 2)."),
    (config(ablated=None), "ablated is None; it needs numbers of heads"),
    (config(ablated=(True,)), "ablated is (True,); it needs numbers of heads"),
    (config(ablated={0: 1}), "ablated is {0: 1}; it needs numbers of heads"),
    (layer(ablated=np.array([0, 3])), "ablated has head 3; the layer has only head 0."),
    (config(options=5), "options is 5; it needs names and values"),
    (config(options=0, temperature=2.0), "options is 0; it needs names and values"),
    (config(options=[("temperature", 2.0)]), "needs names and values"),
    (config(masks=0), "masks is 0; it needs names and numbers"),
    (config(masks=[]), "masks is []; it needs names and numbers"),
    (config(masks={"window": HUGE}), "needs a whole number from 1 to 512."),
    (config(dropout_seed=HUGE), "it needs a whole number from 0 to 2147483647."),
    (config(temperature=HUGE), "it needs a number above 0."),
    (lambda: attnlab.Weights(extra=0), "extra is 0; it needs names and arrays"),  # type: ignore[arg-type]
    (layer({"P": np.ones((4, 7))}, positions="learned"), "P has shape [4, 7]; it needs [position, d_model] with d_mo"),
    (layer(score="general"), "general needs W_a [d_k, d_k] with d_k = 6, which is missing; Weights(extra={'W_a'"),
    (batch(5), "others is 5; it needs a sequence of attnlab.Sample."),
    (batch([(TOKENS, X)]), "others[0] is tuple; it needs attnlab.Sample."),
    (batch([attnlab.Experiment(TOKENS, X)]), "others[0] is Experiment; it needs attnlab.Sample."),
    (
        batch([attnlab.Sample(TOKENS, X, length=9)]),
        "others[0] has length 9; it needs a whole number from 1 to 4, the number of its keys",
    ),
    (batch([attnlab.Sample(TOKENS, X)], item="0"), "item is '0'; it needs a place from 0 to 1 in the batch."),
    (batch([attnlab.Sample(TOKENS, X)], item=True), "item is True; it needs a place from 0 to 1"),
    (batch([attnlab.Sample(TOKENS, X)], item=1.0), "item is 1.0; it needs a place from 0 to 1"),
    (batch((), item=HUGE), "; it needs 0, as there are no others."),
]


@pytest.mark.parametrize(("make", "said"), REFUSED, ids=[said[:24] for _, said in REFUSED])
def test_invalid_entries_are_refused_in_one_sentence(make: Callable[[], object], said: str) -> None:
    with pytest.raises(attnlab.ExperimentError, match=re.escape(said)) as refused:
        make()
    sentence = str(refused.value)
    assert sentence.endswith(".")
    assert len(sentence) < 200
    assert "\n" not in sentence


def test_numpy_and_torch_numbers_are_accepted_like_plain_ones() -> None:
    taken = attnlab.AttentionConfig(
        n_heads=4,
        ablated=np.array([2, 0]),
        masks={"window": np.int64(2)},
        temperature=np.float32(2),
        dropout_seed=np.int32(7),
        training=np.bool_(False),
    )
    assert taken.ablated == (0, 2)
    assert taken.masks == {"window": 2}
    assert taken.options == {"temperature": 2.0, "dropout_seed": 7, "training": False}
    plain = [*taken.options.values(), *taken.masks.values(), *taken.ablated]
    assert {type(value) for value in plain} == {float, int, bool}
    assert attnlab.AttentionConfig(n_heads=2, ablated=torch.tensor([1])).ablated == (1,)


def test_a_learned_table_may_have_more_rows_but_not_more_columns() -> None:
    longer = layer({"P": np.ones((9, 6))}, positions="learned")()
    assert isinstance(longer, attnlab.Experiment)
    torch.testing.assert_close(attnlab.compute(longer, dtype="float64")["inputs"], torch.tensor(X + 1))
