"""Matrix products whose bits do not depend on the number of threads.

A library of linear algebra splits a product among its threads, and adds in another order for another number of them.
It also chooses how to add by where the factors begin in memory, which :func:`attnlab.attention.arrays.own` takes care
of. The stages therefore compute each product in one thread. All else that they do gives every number by itself, or
every row, and may use as many threads as there are.
"""

from collections.abc import Callable

import torch
from torch import Tensor


def in_one_thread(function: Callable[..., Tensor], *arguments: Tensor | None) -> Tensor:
    """Return ``function(*arguments)``, computed in the calling thread alone; the number of threads is put back."""
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
    """Return a product as ``@`` does, of any number of axes."""
    return in_one_thread(torch.matmul, a, b)


def affine(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return x [..., n] times a weight [n, m], and a bias [m] if there is one."""
    if x.ndim > 2:
        return in_one_thread(torch.nn.functional.linear, x, weight.mT, bias)
    return in_one_thread(torch.mm, x, weight) if bias is None else in_one_thread(torch.addmm, bias, x, weight)
