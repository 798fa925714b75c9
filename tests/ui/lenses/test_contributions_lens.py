"""The contributions lens: its table sums to the held score, follows the held cell and edits, and says what it lacks."""

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

import attnlab
from attnlab.attention import edits
from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.explain import Cell
from attnlab.figures.subscripts import spans
from attnlab.ui.playground.lenses.contributions_lens import ContributionsLens
from attnlab.ui.playground.lenses.positions_map import BAR
from attnlab.ui.widgets.fields.undo_fields import NumberBox

if TYPE_CHECKING:
    from collections.abc import Callable

    from attnlab.ui.playground.lenses.positions_map import MapFigure
    from tests.ui.conftest import Person


def open_lens(person: "Person") -> ContributionsLens:
    person.playground.lenses.open_lens("contributions")
    finish(person)
    lens = person.playground.lenses.stack.currentWidget()
    assert isinstance(lens, ContributionsLens)
    return lens


def finish(person: "Person") -> None:
    person.settle()
    person.wait_for(lambda: not person.playground.lane.busy)


def type_number(person: "Person", box: NumberBox, text: str) -> None:
    box.setFocus()
    box.selectAll()
    QTest.keyClicks(box, text)
    QTest.keyClick(box, Qt.Key.Key_Return)
    finish(person)


def values(figure: "MapFigure") -> "np.ndarray[tuple[int, ...], np.dtype[np.floating]]":
    assert figure.data is not None
    return figure.data.values[0]


def test_the_table_of_the_held_cell_sums_to_its_score(person: "Person") -> None:
    person.click_cell("scores", 1, 2)
    lens = open_lens(person)
    score = attnlab.compute(person.experiment).array("scores")[0, 1, 2]
    assert (lens.query.value(), lens.key.value()) == (1, 2)
    assert values(lens.score.map).sum() == pytest.approx(score, rel=1e-6)
    text = lens.sentence.text()
    assert text.startswith(f"“journey” → “starts”: 9 contributions sum to {number(score)}; the score of the layer is ")
    assert text.endswith(f"divides it by 1.4142: {number(score / 2**0.5)}.")
    x = person.experiment.embeddings.numpy()
    w = person.experiment.weights
    assert w.W_q is not None
    assert w.W_k is not None
    matrix = (w.W_q @ w.W_k.mT).numpy()
    np.testing.assert_allclose(values(lens.score.map), x[1][:, None] * matrix * x[2], rtol=1e-6)
    np.testing.assert_allclose(values(lens.matrices.scores.map), matrix, rtol=1e-6)
    assert not lens.blocks.isVisible()
    assert lens.score.map.accessibleName() == "Contributions"


def test_another_pair_is_typed_and_held(person: "Person") -> None:
    lens = open_lens(person)
    type_number(person, lens.query, "3")
    type_number(person, lens.key, "0")
    assert person.document.view.cell == Cell("scores", 3, 0, 0)
    assert lens.sentence.text().startswith("“with” → “Your”")
    type_number(person, lens.key, "99")
    assert "key" in lens.fields.message
    type_number(person, lens.key, "1")
    assert lens.sentence.text().startswith("“with” → “journey”")


def test_the_table_follows_an_edit_and_its_undo(person: "Person") -> None:
    lens = open_lens(person)
    before = lens.sentence.text()
    person.open_table("W_q")
    person.type_number(0, 0, "20")
    finish(person)
    assert lens.sentence.text() != before
    person.undo()
    finish(person)
    assert lens.sentence.text() == before


def test_content_and_position_are_four_blocks_that_sum_to_the_score(sit_down: "Callable[..., Person]") -> None:
    person = sit_down(edits.configure(attnlab.preset("journey"), positions="sinusoidal"))
    lens = open_lens(person)
    assert lens.blocks.isVisible()
    blocks = values(lens.blocks.map)
    total = attnlab.compute(person.experiment).array("scores")[0, lens.query.value(), lens.key.value()]
    assert blocks.shape == (2, 2)
    assert blocks.sum() == pytest.approx(total, rel=1e-6)
    assert f"position·position {number(blocks[1, 1])} sum to {number(total)}" in lens.blocks.sentence.text()


def test_the_output_of_a_column_is_shown_by_key(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("multi-head-8")
    lens = open_lens(person)
    type_number(person, lens.head, "5")
    type_number(person, lens.output.box, "7")
    output = attnlab.compute(person.experiment).array("output")[lens.query.value(), 7]
    assert lens.output.sentence.text().endswith(f"The output of the layer is {number(output)}.")
    assert "the other heads" in lens.output.sentence.text()
    assert person.document.view.cell == Cell("scores", lens.query.value(), lens.key.value(), 5)


@pytest.mark.parametrize(("option", "name"), [({"score": "cosine"}, "“cosine”"), ({"qk_norm": "rms"}, "QK norm")])
def test_where_there_is_no_table_one_sentence_says_why(
    sit_down: "Callable[..., Person]", option: dict[str, str], name: str
) -> None:
    person = sit_down(edits.configure(attnlab.preset("journey"), **option))
    lens = open_lens(person)
    assert name in lens.sentence.text()
    assert "no fixed matrix" in lens.sentence.text()
    assert not lens.score.isVisible()
    assert not lens.matrices.scores.isVisible()
    assert lens.output.isVisible()


def test_with_rope_the_distance_is_named(sit_down: "Callable[..., Person]") -> None:
    person = sit_down(edits.configure(attnlab.preset("journey"), positions="rope"))
    lens = open_lens(person)
    type_number(person, lens.query, "4")
    type_number(person, lens.key, "1")
    assert "between positions 4 and 1, which depends on the distance alone (here −3)" in lens.score.about.text()
    assert lens.matrices.scores.title.text() == "W_q R W_kᵀ"


def test_every_rotation_by_positions_is_named(sit_down: "Callable[..., Person]") -> None:
    """Real models rotate with scaled frequencies, too."""
    person = sit_down(edits.configure(attnlab.preset("journey"), positions="rope_scaled"))
    lens = open_lens(person)
    assert "R is the rotation of RoPE between positions" in lens.score.about.text()
    assert lens.matrices.scores.title.text() == "W_q R W_kᵀ"


@pytest.mark.parametrize(("name", "words"), [("journey", "x_i and x_j are tokens"), ("cross-attention", "x_i is a")])
def test_in_a_block_the_numbers_are_those_after_the_norm(
    sit_down: "Callable[..., Person]", name: str, words: str
) -> None:
    person = sit_down(edits.configure(attnlab.preset(name), block="before"))
    lens = open_lens(person)
    assert words in lens.score.about.text()
    assert "after the norm before attention." in lens.score.about.text()
    score = attnlab.compute(person.experiment).array("scores")[0, lens.query.value(), lens.key.value()]
    total = sum(float(line.split("\t")[2]) for line in lens.score.rows.text().splitlines()[1:])
    assert total == pytest.approx(score, abs=1e-5)


def test_matrices_of_zeros_and_of_numbers_too_large_are_described(sit_down: "Callable[..., Person]") -> None:
    eye = np.eye(2)
    large = attnlab.Weights(W_q=eye, W_k=0 * eye, W_v=eye * 1e200, W_o=eye * 1e200)
    person = sit_down(attnlab.Experiment(tokens=("a", "b"), embeddings=eye, weights=large))
    lens = open_lens(person)
    zero, other = lens.matrices.scores, lens.matrices.output
    assert zero.about.text() == "2 × 2; all singular values are 0."
    assert other.about.text() == "2 × 2; its numbers are too large for float64."
    assert zero.map.isVisible()
    assert not other.map.isVisible()
    assert not other.singular.isVisible()
    person.document.edit("Scale", lambda e: edits.scale(e, "W_v", 1e-200))
    finish(person)
    assert other.about.text().startswith("2 × 2, with at most 2 singular values above 0; the largest is")
    assert other.map.isVisible()


def test_a_layer_of_a_real_model_shows_its_largest_rows_and_how_much_they_cover(
    sit_down: "Callable[..., Person]",
) -> None:
    model = attnlab.read_model("induction")
    assert isinstance(model, attnlab.Model)
    person = sit_down(model.run("a b c a b c").experiment(1))
    lens = open_lens(person)
    assert values(lens.score.map).shape == (12, 12)
    share = re.search(r"of 49 columns; they hold (\d+)\s% of the sum", lens.score.cut.text())
    assert share is not None
    assert 6 < int(share[1]) < 100
    first, second = re.findall(r"(?:sum to|layer is) ([−\d.]+\d)", lens.sentence.text())
    assert first == second
    assert "“bias” belong to b_q and b_k" in lens.score.about.text()


def test_a_large_table_is_readable_in_full_in_the_sums(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("multi-head-8")
    lens = open_lens(person)
    lines = lens.score.rows.text().splitlines()
    assert len(lines) == 1 + person.experiment.d_model
    total = sum(float(line.split("\t")[2]) for line in lines[1:])
    score = attnlab.compute(person.experiment).array("scores")[0, lens.query.value(), lens.key.value()]
    assert total == pytest.approx(score, abs=1e-5)


def test_the_matrix_into_the_output_is_named_as_the_layer_has_it(person: "Person") -> None:
    lens = open_lens(person)
    assert person.experiment.weights.W_o is None
    assert lens.matrices.output.title.accessibleName() == "W_v"
    assert lens.matrices.output.singular.accessibleName().startswith("Singular values of W_v:")
    assert "W_o" not in lens.output.about.accessibleName()
    person.press("Output W_o")
    finish(person)
    assert lens.matrices.output.title.accessibleName() == "W_v W_o"
    assert "M is W_v W_o" in lens.output.about.accessibleName()


@pytest.mark.slow
def test_the_products_are_named_with_lowered_indices_with_and_without_an_output_matrix(
    sit_down: "Callable[..., Person]",
) -> None:
    for preset, factor in (("journey", "Wv,b,c"), ("multi-head-8", "Mb,c")):
        lens = open_lens(sit_down(preset))
        read = "".join(piece for piece, _ in spans(lens.output.about.text()))
        assert f"Ai,j · xj,b · {factor}" in read
        assert "_" not in read


def test_maps_and_their_numbers_grow_with_the_window(person: "Person") -> None:
    lens = open_lens(person)
    sides = []
    for size in ((1366, 768), (1920, 1080), (3840, 2160)):
        person.window.resize(*size)
        person.window.grab()  # which lays out what was asked for
        figures = lens.score.map, lens.matrices.output.map, lens.output.map
        for figure in figures:
            bottom = max(figure.locate_cell(place).bottom() for place in range(figure.count_cells()))
            assert bottom + BAR * figure.zoom <= figure.height() + 1
        sides.append([figure.locate_cell(0).width() for figure in figures])
    small, _, large = sides
    assert all(wide >= 1.5 * narrow for narrow, wide in zip(small, large, strict=True))


def test_titles_are_whole_and_products_unbroken_on_a_laptop(sit_down: "Callable[..., Person]") -> None:
    score = open_lens(sit_down(size=(1366, 768))).score
    for table in (score.rows, score.columns):
        assert table.title.visible_text == table.title.text()
    products = re.findall(r"x_i,\d\s·\sM\s·\sx_j,\d", score.largest.text())
    assert len(products) >= 3
    assert not any(" " in product for product in products)
