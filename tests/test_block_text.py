"""A pasted block is read as spreadsheets and Python write it, or refused with the cell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from attnlab.base.block_text import BlockError, format_block, parse_block
from attnlab.base.number_text import FLOAT32_MAX

blocks = arrays.arrays(
    np.float64,
    arrays.array_shapes(min_dims=2, max_dims=2, max_side=5),
    elements=st.floats(min_value=-FLOAT32_MAX, max_value=FLOAT32_MAX, allow_nan=False),
)


@given(blocks)
def test_a_copied_block_is_pasted_exactly(block: np.ndarray) -> None:
    text = format_block(block)
    assert np.array_equal(parse_block(text), block)
    assert np.array_equal(parse_block(text + "\r\n"), block)
    assert np.array_equal(parse_block(text.replace(".", ",")), block)
    assert np.array_equal(parse_block(text.replace("\t", ";").replace(".", ",")), block)


@given(blocks)
def test_arrays_printed_by_python_are_pasted_exactly(block: np.ndarray) -> None:
    with np.printoptions(threshold=10**6, linewidth=40, floatmode="unique"):
        for text in (str(block.tolist()), str(block), repr(block), f"tensor({block.tolist()}, dtype=torch.float64)"):
            assert np.array_equal(parse_block(text), block)


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("1\t2\n3\t4\n", [[1, 2], [3, 4]]),
        ("1,2,3\n4,5,6", [[1, 2, 3], [4, 5, 6]]),
        ("0.5,0.25\n1,2", [[0.5, 0.25], [1, 2]]),
        ('"1","2"\r\n"3","4"\r\n', [[1, 2], [3, 4]]),
        ("1; 2;\n3; 4;", [[1, 2], [3, 4]]),
        ("  1   2\n  3   4", [[1, 2], [3, 4]]),
        ("0,5\n0,25\n1", [[0.5], [0.25], [1]]),
        ("0,5 0,25", [[0.5, 0.25]]),
        ("0,5\t1\n−2\t1/2", [[0.5, 1], [-2, 0.5]]),
        ("[[1, 2], [3, 4]]", [[1, 2], [3, 4]]),
        ("[1, 2, 3]", [[1, 2, 3]]),
        ("[np.float64(0.5), np.float64(1.0)]", [[0.5, 1]]),
        ("np.array([[1., 2.],\n       [3., 4.]], dtype=np.float32)", [[1, 2], [3, 4]]),
        ("tensor([[1., 2.]], device='cuda:0', grad_fn=<AddBackward0>)", [[1, 2]]),
        ("a\tb\n1\t2", [[1, 2]]),
        ("\ta\tb\nx\t1\t2\ny\t3\t4", [[1, 2], [3, 4]]),
        ("a b\nx 1 2", [[1, 2]]),
        ("row,0,1\n0,0.5,1\n1,2,3", [[0.5, 1], [2, 3]]),  # as attnlab copies a table
        (",0,1\n0,0.5,1\n1,2,3", [[0.5, 1], [2, 3]]),  # as pandas writes one
        (",a,b\n0,0.5,1\n1,2,3", [[0.5, 1], [2, 3]]),
        ("a,b\n0,0.5\n1,2", [[0, 0.5], [1, 2]]),  # without a corner, this column has a name
        ("\ufeff0.5", [[0.5]]),
    ],
)
def test_blocks_of_spreadsheets_and_python_are_read(text: str, block: list[list[float]]) -> None:
    assert parse_block(text).tolist() == block


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The clipboard holds no numbers; copy a block of cells such as 0.25 first."),
        ("\n\n", "The clipboard holds no numbers; copy a block of cells such as 0.25 first."),
        ("abc", "Row 1, column 1 of the pasted block: 'abc' is not a number; type one such as 0.25."),
        ("a,b\n1,2\n3,x", "Row 3, column 2 of the pasted block: 'x' is not a number; type one such as 0.25."),
        (",a,b\nu,1,2\nv,3,x", "Row 3, column 3 of the pasted block: 'x' is not a number; type one such as 0.25."),
        (
            ",a,b\nu,1,2\nv,3",
            "Row 3 of the pasted block has 2 columns, but row 2 has 3; every row needs the same number of columns.",
        ),
        ("x,0\n7,2", "Row 1, column 1 of the pasted block: 'x' is not a number; type one such as 0.25."),
        ("1\t2\n3\tx", "Row 2, column 2 of the pasted block: 'x' is not a number; type one such as 0.25."),
        ("nan\tnan\n1\t2", "Row 1, column 1 of the pasted block: 'nan' is not a finite number; type one such as 0.25."),
        ("1\t#N/A", "Row 1, column 2 of the pasted block: '#N/A' is not a number; type one such as 0.25."),
        ("1\t\t3", "Row 1, column 2 of the pasted block: this cell is empty; give it a number such as 0."),
        ("1\n\n3", "Row 2, column 1 of the pasted block: this cell is empty; give it a number such as 0."),
        ("1e39", "Row 1, column 1 of the pasted block: '1e39' is too large; the largest magnitude is 3.4028234e38."),
        (
            "1\t2\n3",
            "Row 2 of the pasted block has 1 column, but row 1 has 2; every row needs the same number of columns.",
        ),
        (
            "[[[1, 2]]]",
            "The pasted list '[[[1, 2]]]' is not a block; write rows in brackets, such as [[1, 2], [3, 4]].",
        ),
        (
            "[[1, 2], [3",
            "The pasted list '[[1, 2], [3' is not a block; write rows in brackets, such as [[1, 2], [3, 4]].",
        ),
        ("[1 ... 2]", "Row 1, column 2 of the pasted block: '...' is not a number; type one such as 0.25."),
        ("[]", "Row 1, column 1 of the pasted block: this cell is empty; give it a number such as 0."),
    ],
)
def test_an_invalid_block_is_refused_with_the_place(text: str, sentence: str) -> None:
    with pytest.raises(BlockError) as refusal:
        parse_block(text)
    assert str(refusal.value) == sentence


@given(st.text(alphabet="0123456789.,;-+e[]()\t\n \"'xné½", max_size=40))
def test_any_text_is_read_or_refused_in_one_sentence(text: str) -> None:
    try:
        block, sentence = parse_block(text), ""
    except BlockError as error:
        block, sentence = np.full((1, 1), np.nan), str(error)
    assert np.isfinite(block).all() == (not sentence)
    assert "\n" not in sentence


def test_an_unclosed_quotation_mark_is_refused() -> None:
    with pytest.raises(BlockError, match="is not a block of numbers"):
        parse_block('1\t"' + "2\n" * 200_000)
