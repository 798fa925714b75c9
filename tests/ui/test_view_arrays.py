"""What attnlab.view accepts, and the sentences that refuse the rest."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

import attnlab
from attnlab.base.errors import AttnlabError
from attnlab.figures.array_maps import take_maps
from attnlab.ui.app.array_window import ArrayWindow
from tests.ui.test_view import shown
from tests.ui.viewed import windows, within_a_loop

pytestmark = pytest.mark.usefixtures("after_view")


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x.tolist(),
        lambda x: x.numpy(),
        lambda x: x.numpy().astype(np.float16),
        lambda x: x,
        lambda x: x.double(),
        lambda x: x.half(),
        lambda x: x.bfloat16(),
        lambda x: x.clone().requires_grad_(),
        list,
        lambda x: [list(head) for head in x],
        lambda x: x.to_sparse(),
        lambda x: np.asfortranarray(x.numpy()),
    ],
)
def test_many_kinds_of_arrays_are_accepted(make: Callable[[torch.Tensor], object]) -> None:
    x = torch.tensor([[[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]]] * 2)
    np.testing.assert_array_equal(take_maps(make(x)).values, x[None].numpy())


@pytest.mark.parametrize(
    "x", [[[1, 0], [0, 1]], [[True, False], [False, True]], torch.eye(2).int(), torch.eye(2).bool()]
)
def test_integers_and_booleans_are_accepted(x: object) -> None:
    np.testing.assert_array_equal(take_maps(x).values[0, 0], np.eye(2))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU of NVIDIA's")
def test_a_tensor_on_a_gpu_is_accepted() -> None:
    layers = tuple(torch.eye(3, device="cuda").expand(1, 2, 3, 3).requires_grad_() for _ in range(2))
    np.testing.assert_array_equal(take_maps(layers).values, np.broadcast_to(np.eye(3), (2, 2, 3, 3)))


def test_masked_numpy_cells_are_nan() -> None:
    values = take_maps(np.ma.masked_array([[0.5, 0.5], [1.0, 0.0]], [[False, True], [False, False]])).values
    assert np.isnan(values[0, 0]).tolist() == [[False, True], [False, False]]


def test_the_tuple_of_a_model_shows_batch_item_0_of_each_layer(look: Callable[..., ArrayWindow]) -> None:
    layers = tuple(torch.rand(2, 3, 4, 4, dtype=torch.bfloat16).softmax(-1).requires_grad_() for _ in range(5))
    window = look(layers, torch.tensor([101, 7, 8, 102]))
    np.testing.assert_array_equal(shown(window), layers[0][0].detach().float().numpy())
    assert window.bar.heading.text() == "[5, 3, 4, 4]"
    assert window.readout.text().startswith("Batch item 0 of 2 · ")
    assert window.sheet.data is not None
    assert window.sheet.data.row_labels == ("101", "7", "8", "102")


class _Answer(dict[str, object]):
    attentions = (torch.ones(1, 1, 2, 2),)


@pytest.mark.parametrize(
    ("x", "tokens", "sentence"),
    [
        (0.5, None, r"x has no axes, \[\]; view needs \[T_q, T_k\]"),
        ([0.5, 0.5], None, r"x has 1 axis, \[2\]; view needs"),
        (np.zeros((1, 1, 1, 2, 2)), None, r"x has 5 axes, \[1, 1, 1, 2, 2\]; view needs"),
        ([], None, r"x is empty, \[0\]"),
        (torch.zeros(2, 0, 3), None, r"x is empty, \[2, 0, 3\]"),
        ([[1, 2], [1]], None, "its rows have different lengths"),
        ([torch.eye(2), torch.eye(3)], None, r"arrays of different shapes, such as \[2, 2\] and \[3, 3\]"),
        ("journey", None, "x is 'journey'; view needs an Experiment, a Trace, or an array"),
        ({}, None, "x is {}"),
        (None, None, "x is None"),
        (object, None, "view needs an Experiment"),
        ([["a", "b"]], None, "array of real numbers"),
        ([[1j, 0]], None, "array of real numbers"),
        (torch.zeros(2, 2, dtype=torch.complex64), None, "complex numbers"),
        (torch.zeros(2, 2, device="meta"), None, "the device meta"),
        (_Answer(), None, r"view needs its attention, x\.attentions"),
        ((None, None), None, r"x\[0\] is None.*output_attentions=True"),
        ((torch.ones(1, 1, 2, 2), torch.ones(2, 2)), None, r"x\[1\] has the shape \[2, 2\]; every layer needs"),
        ((torch.ones(0, 1, 2, 2),), None, "at least one batch item"),
        ((torch.ones(1, 1, 2, 2), torch.ones(1, 1, 3, 3)), None, r"x\[1\] has \[1, 3, 3\] per batch item, but x\[0\]"),
        (np.eye(3), ["a", "b"], r"tokens has 2 labels; x \[3, 3\] needs 3"),
        (np.ones((2, 3)), ["a", "b"], r"needs a pair \(query_tokens, key_tokens\)"),
        (np.ones((2, 3)), (["a", "b"], ["a", "b"]), r"tokens\[1\] has 2 labels; x \[2, 3\] needs 3, one for each key"),
        (np.eye(3), "abc", "tokens is 'abc'; it needs a list of labels"),
        (np.eye(3), 3, "tokens is 3; it needs a list of labels"),
    ],
)
def test_an_invalid_array_is_refused_before_a_window_opens(x: object, tokens: object, sentence: str) -> None:
    with pytest.raises(AttnlabError, match=sentence) as caught:
        within_a_loop(lambda: attnlab.view(x, tokens))
    assert windows() == []
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_an_experiment_has_tokens_of_its_own() -> None:
    for x in (attnlab.preset("journey"), attnlab.compute(attnlab.preset("journey"))):
        with pytest.raises(AttnlabError, match="has tokens of its own"):
            attnlab.view(x, ["a"])
