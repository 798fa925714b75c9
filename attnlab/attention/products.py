"""Matrix products whose bits do not depend on the number of threads.

A linear algebra library splits a product among its threads, so the order of additions depends on their number. The
stages therefore compute each product in one thread. The order also depends on the alignment of the factors in memory,
which :func:`attnlab.attention.arrays.own` fixes. All other operations compute each number, or each row, independently
and may use all threads.
"""

from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor

T = TypeVar("T")


def in_one_thread(function: Callable[..., T], *arguments: Tensor | None) -> T:
    """Return ``function(*arguments)``, computed in the calling thread alone; then restore the number of threads."""
    threads = torch.get_num_threads()
    if threads == 1:
        return function(*arguments)
    torch.set_num_threads(1)
    try:
        return function(*arguments)
    finally:
        torch.set_num_threads(threads)


def bmm(a: Tensor, b: Tensor) -> Tensor:
    """Return the products of two stacks of matrices, [h, n, k] by [h, k, m]."""
    return in_one_thread(torch.bmm, a, b)


def matmul(a: Tensor, b: Tensor) -> Tensor:
    """Return ``a @ b``, for any number of axes."""
    return in_one_thread(torch.matmul, a, b)


def affine(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return x [..., n] times a weight [n, m], plus a bias [m] if there is one."""
    if x.ndim > 2:
        return in_one_thread(torch.nn.functional.linear, x, weight.mT, bias)
    return in_one_thread(torch.mm, x, weight) if bias is None else in_one_thread(torch.addmm, bias, x, weight)
