"""The overview of all heads: how much of each head's weight is on words, and what another head costs."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetricsF
from pytestqt.qtbot import QtBot

from attnlab.figures.map_data import MapData
from attnlab.figures.scales import find_scale
from attnlab.pretrained.model import open_model
from attnlab.ui.base.fonts import face
from attnlab.ui.base.theme import px, scale
from attnlab.ui.base.themed import palette_of
from attnlab.ui.export.export_dialog import ExportDialog
from attnlab.ui.models import models_cards
from attnlab.ui.models.heads_overview import HeadsOverview
from tests.pretrained.conftest import make_model, save_tokenizer
from tests.ui.models.reader import ModelReader


def open_random(reader: ModelReader, folder: Path, name: str, text: str = "the cat sat on the mat") -> None:
    make_model(name).save_pretrained(folder)
    save_tokenizer(folder, name)
    reader.models.open_model(str(folder), text)
    reader.wait()


def test_a_bar_tells_how_much_of_the_weight_is_on_words(reader: ModelReader, tmp_path: Path) -> None:
    open_random(reader, tmp_path, "bert")
    reader.models.session.show(layer=2, head=1)
    reader.wait()
    weights = open_model(tmp_path).run("the cat sat on the mat").attention(2)[1].numpy()
    share = weights[:, 1:-1].sum(-1).mean()  # without [CLS] and [SEP]
    overview = reader.models.overview
    assert f"{100 * share:.0f}\N{NO-BREAK SPACE}% of its weight is on words" in overview.tool_tip(
        overview.cell_rect(9, 1, 1).center()
    )
    assert f"{100 * share:.0f}\N{NO-BREAK SPACE}% of the weight is on words." in reader.models.patterns.numbers.text()
    assert reader.models.cards.legend.isVisible()
    rect = overview.cell_rect(9, 7, 0).united(overview.cell_rect(9, 7, 7))
    row = overview.grab().toImage()
    ratio, y = row.devicePixelRatio(), rect.bottom() + 2
    colours = [
        row.pixelColor(int(x * ratio), int(y * ratio)).name()
        for x in np.linspace(rect.left() + 1, rect.right() - 2, 60)
    ]
    drawn = colours.count(palette_of(overview).attention.lower()) / 60
    assert drawn == pytest.approx(float(share), abs=0.06)


def test_sorted_maps_have_titles_in_place_of_bars(reader: ModelReader) -> None:
    assert reader.models.cards.legend.isVisible()
    reader.models.order.chosen.emit("previous")
    assert not reader.models.cards.legend.isVisible()
    tip = reader.models.overview.tool_tip(reader.models.overview.cell_rect(0, 1, 1).center())
    assert "of its weight is on words" in tip


def test_a_title_is_free_of_the_ring_around_the_map_above(reader: ModelReader) -> None:
    reader.models.order.chosen.emit("previous")
    grid = reader.models.overview.grid
    assert grid is not None
    assert grid.lines > 1
    between = grid.rect(grid.per_row, None, None)[1] - sum(grid.rect(0, None, None)[1::2])
    assert between >= QFontMetricsF(face("tiny", scale())).ascent() + px(2) + px(4)


@pytest.mark.parametrize("width", [300, 490, 1600])
@pytest.mark.parametrize(("layers", "heads", "tokens"), [(12, 12, 10), (6, 12, 49), (24, 16, 30), (2, 2, 5)])
def test_sorted_maps_have_their_titles_at_every_width(
    qtbot: QtBot, width: int, layers: int, heads: int, tokens: int
) -> None:
    overview = HeadsOverview()
    qtbot.addWidget(overview)
    overview.resize(px(width), px(280))
    titles = tuple(f"L{layer} H{head}" for layer in range(layers) for head in range(heads))
    maps, words = np.full((layers * heads, tokens, tokens), 0.1, np.float32), ("the",) * tokens
    overview.show_heads(
        MapData(maps, "probability", find_scale(maps, "probability"), None, words, words, titles), None, 0, ()
    )
    grid, font = overview.grid, face("tiny", scale())
    assert grid is not None
    assert grid.title_height > 0
    shortest = f"{layers - 1}.{heads - 1}"
    assert (grid.columns + grid.gap[1]) * grid.cell_width >= QFontMetricsF(font).horizontalAdvance(shortest)
    assert grid.y + grid.height <= overview.height()


def test_eight_sorted_heads_fill_two_lines_of_a_large_card(qtbot: QtBot) -> None:
    overview = HeadsOverview()
    qtbot.addWidget(overview)
    overview.resize(px(746), px(510))
    maps, words = np.full((8, 49, 49), 0.1, np.float32), ("e",) * 49
    titles = tuple(f"L{place // 4} H{place % 4}" for place in range(8))
    overview.show_heads(
        MapData(maps, "probability", find_scale(maps, "probability"), None, words, words, titles), None, 0, ()
    )
    assert overview.grid is not None
    assert (overview.grid.per_row, overview.grid.lines) == (4, 2)


@pytest.mark.parametrize("size", [100, 150])
def test_the_ring_leaves_room_below_the_title_of_its_map(reader: ModelReader, tmp_path: Path, size: int) -> None:
    reader.window.change_settings(type_size=size)
    open_random(reader, tmp_path, "gpt2")
    reader.models.order.chosen.emit("previous")
    overview = reader.models.overview
    assert overview.grid is not None
    assert overview.grid.lines > 1
    place = overview.grid.per_row  # above the first line of maps are the names of tokens
    overview.head_chosen.emit(place)
    left, top, *_ = overview.grid.rect(place, None, None)
    height = overview.title_gap * scale() + px(14)
    strip = overview.grab(QRect(int(left), int(top - height), px(30), int(height))).toImage()
    rows = [{strip.pixelColor(x, y).name() for x in range(strip.width())} for y in range(strip.height())]
    ring = next(y for y, row in enumerate(rows) if row == {palette_of(overview).accent.lower()})
    letters = max(y for y, row in enumerate(rows[: ring - 1]) if len(row) > 1)
    assert ring - letters > px(3) * strip.devicePixelRatio()


def test_the_tips_of_a_causal_model_tell_weights_and_masks(reader: ModelReader) -> None:
    overview = reader.models.overview
    tips = [overview.tool_tip(overview.cell_rect(3, *cell).center()) for cell in ((8, 3), (3, 8))]
    assert tips[0].startswith(f"L1, 1: d → b: {reader.in_map()[8, 3]!s}\n")
    assert tips[1].startswith("L1, 1: b → d: masked\n")


def test_without_words_there_is_no_bar(reader: ModelReader) -> None:
    reader.models.open_model("induction", "a")
    reader.wait()
    assert not reader.models.cards.legend.isVisible()
    assert "on words" not in reader.models.patterns.numbers.text()


def test_the_entropy_is_shown_as_a_share_of_its_maximum(reader: ModelReader) -> None:
    row = next(row for row in reader.models.session.patterns if (row.layer, row.head) == reader.place)
    meter = reader.models.patterns.meters.meters[-1]
    assert meter.label == "entropy"
    assert meter.value == pytest.approx(row.entropy / np.log(9))
    assert f"{row.entropy:.4f} nats" in meter.spoken


def test_another_head_does_not_draw_the_overview_again(reader: ModelReader, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = list[object]()
    make = models_cards.make_overview
    monkeypatch.setattr(models_cards, "make_overview", lambda *given: drawn.append(given) or make(*given))
    reader.models.overview.setFocus()
    reader.key(Qt.Key.Key_Left)
    assert reader.place == (1, 0)
    assert reader.models.overview.accessibleDescription().startswith("L1, 0")
    assert not drawn
    reader.models.order.chosen.emit("previous")
    assert len(drawn) == 1


def test_another_model_begins_with_its_first_part(reader: ModelReader, tmp_path: Path) -> None:
    assert reader.models.session.view.part == "decoder"
    open_random(reader, tmp_path, "t5")
    assert reader.models.session.view.part == "encoder"
    assert len(reader.models.session.overview.queries) == 6  # type: ignore[union-attr]


def test_the_export_names_the_part_of_the_model(reader: ModelReader, tmp_path: Path) -> None:
    open_random(reader, tmp_path / "own", "t5")
    for part in ("encoder", "decoder", "cross"):
        reader.models.session.show(part=part)
        reader.wait()
        reader.window.actions_list.run("model-export")
        dialog = reader.window.findChild(ExportDialog)
        assert dialog is not None
        layer, head = reader.place
        assert dialog.form.name.text() == f"own-{part}-layer-{layer}-head-{head}"
        assert dialog.form.what.text() == f"{part.capitalize()} layer {layer}"
        dialog.close()
        reader.wait_for(lambda: reader.window.findChild(ExportDialog) is None)


@pytest.mark.parametrize(("text", "row"), [("the", -1), ("the cat sat on the mat", 1)])
def test_the_rows_of_an_encoder_leave_the_answer_behind_the_last_token_of_the_decoder(
    reader: ModelReader, tmp_path: Path, text: str, row: int
) -> None:
    open_random(reader, tmp_path, "t5", text)
    reader.models.panel.target_edited.emit("cat sat soft")
    reader.models.session.show(row=row)
    reader.wait()
    (token, share), *_ = open_model(tmp_path).run(text, "cat sat soft").predictions()
    said = reader.models.effect.sentence.text()
    assert said == f"After “soft”: “{token}”, {100 * share:.1f}\N{NO-BREAK SPACE}%."
