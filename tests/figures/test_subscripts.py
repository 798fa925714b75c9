"""Formulas in running text: where they may be broken."""

import pytest

from attnlab.figures.subscripts import keep_products


@pytest.mark.parametrize(
    ("formula", "parts"),
    [
        ("softmax(Q Kᵀ ÷ √12) V W_o + b_o", ["softmax(Q Kᵀ ÷ √12) V W_o", "+ b_o"]),
        ("(x − mean) ÷ std × scale + shift", ["(x − mean) ÷ std × scale", "+ shift"]),
        ("y = x W", ["y", "= x W"]),
    ],
)
def test_a_formula_is_broken_before_a_sign_and_never_in_a_product(formula: str, parts: list[str]) -> None:
    kept = keep_products(formula)
    assert [part.replace("\u00a0", " ") for part in kept.split(" ")] == parts
