"""Heads sorted by what the answer loses without each: computed layer by layer, for the text and the token at hand."""

import pytest

from attnlab.pretrained.model import read_model
from attnlab.ui.models.models_cards import ORDERS
from attnlab.ui.models.models_session import CHANGES
from tests.ui.models.reader import ModelReader


def measure_by_hand(reader: ModelReader) -> dict[tuple[int, int], float]:
    """Return how far the likeliest token's probability moves, each time by a run from the beginning."""
    state = reader.models.session.state
    model = read_model(state.source)
    before = model.run(state.text).probabilities(-1)
    best, found = int(before.argmax()), {}
    for layer in range(model.n_layers):
        for head in range(model.n_heads):
            after = model.run(state.text, heads_off=[(layer, head)]).probabilities(-1)
            found[layer, head] = abs(float(after[best] - before[best]))
    return found


def test_heads_are_sorted_by_what_the_answer_loses_without_them(reader: ModelReader) -> None:
    assert reader.models.effect.rank.isHidden()
    reader.choose("Sort by", ORDERS[CHANGES])
    reader.wait()
    by_hand = measure_by_hand(reader)
    order = sorted(by_hand, key=lambda place: -by_hand[place])
    assert [by_hand[place] for place in reader.models.places] == pytest.approx([by_hand[place] for place in order])
    reader.models.session.show(layer=order[0][0], head=order[0][1])
    reader.wait()
    count, (layer, head) = len(order), order[0]
    said = f"With only L{layer} H{head} off, the likeliest token’s probability changes by {by_hand[order[0]]:.3f}"
    assert reader.models.effect.rank.text() == f"{said}: the largest of all {count} heads."
    reader.models.session.show(layer=order[1][0], head=order[1][1])
    reader.wait()
    assert "number 2 by size of all" in reader.models.effect.rank.text()


def test_what_is_off_does_not_matter_and_another_text_begins_anew(reader: ModelReader) -> None:
    reader.choose("Sort by", ORDERS[CHANGES])
    reader.wait()
    known = reader.models.session.trials.changes
    reader.models.effect.switch.click()
    reader.wait()
    assert reader.models.session.state.is_changed
    assert reader.models.session.trials.changes is known
    reader.models.set_text("a b c a", "retype the input")
    reader.wait()
    changes = reader.models.session.trials.changes
    assert changes is not None
    assert changes is not known
    for (layer, head), size in measure_by_hand(reader).items():
        assert float(changes.sizes[layer, head]) == pytest.approx(size, abs=1e-6)


def test_another_order_keeps_the_ranks_and_another_token_forgets_them(reader: ModelReader) -> None:
    reader.choose("Sort by", ORDERS[CHANGES])
    reader.wait()
    reader.choose("Sort by", ORDERS["layer"])
    reader.wait()
    assert reader.models.places == sorted(reader.models.places)
    assert reader.models.effect.rank.isVisible()
    reader.models.session.show(row=2)
    reader.wait()
    assert reader.models.session.trials.changes is None
    assert reader.models.effect.rank.isHidden()
