"""Subscripts in running text, and where formulas may be broken."""

import pytest

from attnlab.figures.subscripts import keep_products, write_html


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


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("W_q is q_proj.weight [8, 8]", "W<sub>q</sub> is q_proj.weight [8, 8]"),
        ("h.0.c_attn is W_k.", "h.0.c_attn is W<sub>k</sub>."),
    ],
)
def test_the_dotted_name_of_an_array_is_written_as_in_its_file(text: str, html: str) -> None:
    assert write_html(text) == html
