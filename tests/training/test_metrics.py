"""Metrics of the held-out examples, compared with hand-computed ones."""

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from attnlab.training import metrics
from attnlab.training.batch import IGNORED, Batch
from attnlab.training.metrics import compute_metric
from attnlab.training.models import Model
from attnlab.training.models.base_model import Memory

N = IGNORED


class Echo(Model):
    """Predicts the token that it reads, with a logit of 4 for it and 0 for the four others; numbers are doubled."""

    def __init__(self) -> None:
        super().__init__(longest=3, onward=True)

    def decode(self, inputs: Tensor, memory: Memory | None) -> Tensor:
        return inputs * 2 if inputs.is_floating_point() else 4.0 * functional.one_hot(inputs, 5)


@pytest.mark.parametrize("at_once", [metrics.AT_ONCE, 6, 1])
def test_shares_and_loss_count_only_positions_with_a_target(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "AT_ONCE", at_once)  # all three examples at once, two of them, or one
    inputs = torch.tensor([[3, 4, 3], [4, 4, 4], [3, 3, 4]])
    targets = torch.tensor([[3, 4, N], [4, 3, N], [N, N, 4]])  # of five places asked only [1, 1] is wrong
    found = compute_metric(Echo(), Batch(inputs, targets), (2, 2, 1), 7)
    assert (found.step, found.right) == (7, pytest.approx(4 / 5))
    assert found.exact == pytest.approx(2 / 3)
    assert found.by_length == ((1, 1.0), (2, 0.5))
    wrong = math.log(math.exp(4) + 4)
    assert found.loss == pytest.approx((4 * (wrong - 4) + wrong) / 5)


@pytest.mark.parametrize("at_once", [metrics.AT_ONCE, 6, 1])
def test_number_tasks_have_a_mean_square_error_and_no_shares(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "AT_ONCE", at_once)
    inputs = torch.arange(9.0).reshape(3, 3, 1)
    found = compute_metric(Echo(), Batch(inputs, inputs), (), 0)
    assert found.loss == pytest.approx(sum(i * i for i in range(9)) / 9)  # 2i where i is asked
    assert math.isnan(found.right)
    assert math.isnan(found.exact)
    assert found.by_length == ()
