"""Lenses on slides: drawn for the last row, the same on paper, and operated as in the window by a key."""

import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter
from PySide6.QtWidgets import QApplication

from attnlab.attention import edits
from attnlab.attention.examples.presets import preset
from attnlab.attention.stages.arithmetic import number
from attnlab.compute.engine import compute
from attnlab.figures.palette import LIGHT
from attnlab.figures.slides import lens_chart, slide_text
from attnlab.figures.slides.lens_chart import draw_chart, format_tick
from attnlab.figures.slides.lens_circles import find_circle
from attnlab.figures.slides.lens_content import Chart, ChartLine, Charts, Circles, MapRows, Plane, Table
from attnlab.figures.slides.lens_painter import draw_lens, find_type
from attnlab.figures.slides.slide_content import SlideContent
from attnlab.figures.slides.slide_layout import Box, Sheet
from attnlab.figures.slides.slide_painter import draw_slide
from attnlab.figures.slides.slide_text import make_face
from attnlab.lessons.library import find, list_shipped
from attnlab.lessons.parse import parse
from attnlab.lessons.slides import make_slides
from attnlab.ui.base.theme import dress_type
from attnlab.ui.present.content import Moment, make_content
from attnlab.ui.present.lens_values import count_words, find_shown, has_picture, make_picture
from attnlab.ui.present.pdf import compute_pages

Key = Qt.Key


def test_every_lens_of_the_included_lessons_is_drawn_for_a_hall() -> None:
    lenses = {step.lens for name in list_shipped() for step in find(name).steps if step.lens}
    assert lenses
    assert all(has_picture(lens) for lens in lenses)
    assert find_type(Sheet(0, 0, 1920, 1080)) >= 24


@pytest.mark.parametrize("size", [(1024, 640), (1366, 768), (1920, 1080)])
@pytest.mark.parametrize("name", ["scaling", "positions", "trainable-weights", "attention-is-geometry"])
def test_a_lens_fits_its_slide(qapp: QApplication, name: str, size: tuple[int, int]) -> None:
    from dataclasses import replace

    dress_type()
    for slide in make_slides(find(name)):
        if not slide.step.lens:
            continue
        assert slide.experiment is not None
        trace = compute(slide.experiment)
        content = replace(
            make_content(slide, trace, compute(slide.before or slide.experiment), Moment(lens=True)),
            picture=make_picture(slide.step.lens, trace, find_shown(slide)),
        )
        image = QImage(QSize(*size), QImage.Format.Format_RGB32)
        painter = QPainter(image)
        assert draw_slide(painter, Sheet(0, 0, *size), content, LIGHT).left_out == ()
        painter.end()


def test_rope_turns_by_the_distance_alone() -> None:
    trace = compute(preset("rope"))
    picture = make_picture("positions/rotation", trace)
    assert isinstance(picture, Circles)
    one, two = picture.circles
    assert one.text == two.text
    assert one.turn == pytest.approx(two.turn)
    scores = trace.array("scores")[0]
    assert [number for _, number, _ in picture.numbers] == [
        f"{scores[q, k]:.3f}".replace("-", "−") for q, k in ((3, 1), (6, 4), (6, 5), (6, 3))
    ]
    assert [strong for *_, strong in picture.numbers] == [True, True, False, False]
    assert sum(dial.current for dial in picture.dials) == 1


def test_scaled_rope_turns_on_slides_by_its_table() -> None:
    e = edits.configure(preset("rope"), positions="rope_scaled", rope_factor=2.0)
    e = edits.with_table(e, "omega", torch.full((1, e.d_k // 2), 0.125))
    picture = make_picture("positions/rotation", compute(e))
    assert isinstance(picture, Circles)
    one, two = picture.circles
    assert one.turn == pytest.approx(two.turn)
    assert [dial.turn for dial in picture.dials] == [0.25] * len(picture.dials)
    assert count_words("positions/rotation", e) == 3


def test_shuffled_words_give_the_same_map_only_without_positions() -> None:
    picture = make_picture("positions/order", compute(preset("order-blind")))
    assert isinstance(picture, MapRows)
    bare, placed = picture.rows
    assert bare.result == "The same map. Largest difference: 0"
    assert placed.result.startswith("Another map.")
    assert (bare.maps[0].data.values == bare.maps[2].data.values).all()


def test_the_slide_and_the_lens_begin_with_the_same_order(lecture: Callable[..., Any]) -> None:
    picture = make_picture("positions/order", compute(preset("order-blind")))
    assert isinstance(picture, MapRows)
    shuffled = tuple(picture.rows[0].maps[1].data.row_labels)
    text = "## Look\n\n```state\npreset: order-blind\nlens: positions/order\n```\n\nSee?\n"
    talk = lecture(parse(text, "look"))
    talk.person.wait_for(lambda: isinstance(talk.content.picture, MapRows))
    talk.press(Key.Key_O)
    talk.person.wait_for(lambda: talk.presentation.parts.lens is not None and talk.presentation.parts.lens.isVisible())
    page = talk.presentation.parts.lens.lens.order
    talk.person.wait_for(lambda: page.rows[0][1].data is not None)
    assert tuple(page.rows[0][1].data.row_labels) == shuffled


def test_a_lens_on_a_slide_has_neither_tabs_nor_fields_until_they_are_wanted(lecture: Callable[..., Any]) -> None:
    text = "## Look\n\n```state\npreset: saturated-scaled\nlens: saturation\n```\n\nSee?\n"
    talk = lecture(parse(text, "look"), size=(1920, 1080))
    talk.person.wait_for(lambda: isinstance(talk.content.picture, Charts))
    assert talk.presentation.parts.lens is None
    talk.press(Key.Key_O)
    talk.person.wait_for(lambda: talk.presentation.parts.lens is not None and talk.presentation.parts.lens.isVisible())
    assert talk.presentation.parts.lens.lens.name == "saturation"
    talk.press(Key.Key_O)
    talk.person.wait_for(lambda: isinstance(talk.content.picture, Charts))
    assert talk.presentation.parts.lens.isHidden()


def test_gradients_without_a_loss_are_missed_on_the_slide_until_there_is_one(lecture: Callable[..., Any]) -> None:
    text = "## Look\n\n```state\npreset: journey\nlens: backward\n```\n\nSee?\n"
    talk = lecture(parse(text, "look"))

    def read_text() -> list[str]:
        return ["".join(run.text for run in paragraph.runs) for paragraph in talk.content.text]

    talk.person.wait_for(lambda: read_text() == ["See?", "There are no gradients yet: the layer has no loss."])
    lens = talk.presentation.parts.lens
    assert lens.isVisible()
    lens.lens.panel.loss_chosen.emit("weight")
    talk.person.wait_for(lambda: read_text() == ["See?"])
    assert lens.lens.canvas.isVisible()


def read_side(talk: Any) -> QImage:
    """Return what is drawn in the free part of the slide."""
    side = talk.presentation.view.drawn.side
    rect = QRect(round(side.x), round(side.y), round(side.width), round(side.height))
    return QImage(talk.presentation.view.grab(rect).toImage())


def list_colours(image: QImage) -> set[int]:
    return {image.pixel(x, y) for x in range(0, image.width(), 9) for y in range(0, image.height(), 9)}


def test_a_lens_that_gives_the_answer_comes_with_it(lecture: Callable[..., Any]) -> None:
    text = "## Look\n\n```state\npreset: saturated\nlens: saturation\n```\n\nSame?\n\n```answer\nNo.\n```\n"
    talk = lecture(parse(text, "look"))
    following = talk.presentation.presenter.make_next_content
    talk.person.wait_for(lambda: following() is not None and isinstance(following().picture, Charts))  # computed ahead
    side = talk.presentation.view.drawn.side
    assert talk.content.picture is None
    assert list_colours(read_side(talk)) == {QColor(LIGHT.ground).rgb()}
    talk.press(Key.Key_Right)
    assert talk.answer() == "No."
    assert talk.presentation.view.drawn.side == side  # nothing moves
    assert len(list_colours(read_side(talk))) > 5


ROPE = "## Before\n\n```state\npreset: rope\n```\n\nFirst.\n\n## Look\n\n```state\nlens: positions/rotation\n```\n\n"
ROPE += "Same?\n\n```answer\nYes.\n```\n\n## After\n\nLast.\n"


def test_each_press_turns_the_arrows_by_one_word(lecture: Callable[..., Any]) -> None:
    talk = lecture(parse(ROPE, "look"), size=(1280, 720))
    talk.press(Key.Key_Right)
    talk.person.wait_for(lambda: isinstance(talk.content.picture, Circles))
    pictures = [read_side(talk)]
    for word in (1, 2, 3):
        assert talk.content.keys[:2] == ("→ next word", "L labels")
        assert talk.presentation.presenter.make_next_content().turned == word
        talk.press(Key.Key_Right)
        assert talk.content.turned == word
        assert not talk.content.answered
        talk.presentation.view.finish()
        pictures.append(read_side(talk))
        assert pictures[-1] != pictures[-2]
    assert talk.content.prompt == "press → to reveal"
    talk.press(Key.Key_Right)
    assert talk.answer() == "Yes."  # now with the scores, which would have given it
    assert read_side(talk) != pictures[-1]
    talk.press(Key.Key_Left)
    assert read_side(talk) == pictures[-1]
    for picture in pictures[-2::-1]:
        talk.press(Key.Key_Left)
        talk.presentation.view.finish()
        assert read_side(talk) == picture
    talk.press(Key.Key_Left)
    assert talk.content.title == "Before"
    talk.press(Key.Key_End, Key.Key_Left)
    assert talk.content.title == "Look"
    assert (talk.content.answered, talk.content.turned) == (True, 3)  # back shows the end of a step


def test_the_turn_takes_300_ms_and_none_where_motion_is_reduced(
    lecture: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attnlab.ui.present.slide_view.motion_ms", lambda _: 150)
    talk = lecture(parse(ROPE, "look"), size=(1280, 720))
    talk.press(Key.Key_Right)
    talk.person.wait_for(lambda: isinstance(talk.content.picture, Circles))
    still = read_side(talk)
    talk.press(Key.Key_Right)
    view = talk.presentation.view
    assert view._turn.duration() == 300
    talk.person.wait_for(lambda: not view.turning)
    end = read_side(talk)
    assert end != still
    talk.press(Key.Key_Left)
    talk.person.wait_for(lambda: not view.turning)
    view.reduced_motion = True
    talk.press(Key.Key_Right)
    assert not view.turning
    assert read_side(talk) == end


ARROWS = "## Tokens\n\n```state\npreset: the-cat-sat\nlens: arrows\nstage: inputs\n```\n\nFirst.\n\n"
ARROWS += "## Queries\n\n```state\nlens: arrows\nstage: scores\n```\n\nSecond.\n\n## After\n\n```state\nlens: none\n"
ARROWS += "```\n\nLast.\n"


def test_arrows_move_on_from_slide_to_slide(lecture: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnlab.ui.present.slide_view.motion_ms", lambda _: 150)
    talk = lecture(parse(ARROWS, "move"), size=(1280, 720))
    view = talk.presentation.view
    view._turn.setDuration(1_000_000)  # so that the motion lasts until the test ends it
    talk.person.wait_for(lambda: isinstance(talk.content.picture, Plane))
    assert not view.turning  # nothing was there before
    tokens = talk.content.picture
    talk.press(Key.Key_Right)
    talk.person.wait_for(lambda: talk.content.picture not in (None, tokens))
    assert view.turning
    assert view._way is not None
    on_the_way = [view._way.make(share).picture for share in (0.0, 0.5, 1.0)]
    queries, begun = talk.content.picture.arrows.arrows, on_the_way[0].moving.arrows
    longest = [max(math.hypot(*tip) for tip in picture.arrows.points()) for picture in (tokens, talk.content.picture)]
    factor = min(1.0, longest[1] / longest[0])
    starts = {arrow.token: (factor * arrow.tip[0], factor * arrow.tip[1]) for arrow in tokens.arrows.arrows}
    assert [arrow.tip for arrow in begun] == [pytest.approx(starts[arrow.token]) for arrow in queries]
    assert max(math.hypot(*arrow.tip) for arrow in begun) <= longest[1] * 1.001
    assert [arrow.tip for arrow in on_the_way[2].moving.arrows] == [pytest.approx(arrow.tip) for arrow in queries]
    assert all(picture.moving.projection is None for picture in on_the_way)
    view._turn.setCurrentTime(500_000)
    between = read_side(talk)
    view.finish()
    assert not view.turning
    end = read_side(talk)
    assert between != end
    talk.press(Key.Key_Left)
    talk.person.wait_for(lambda: talk.content.picture is not None and talk.content.picture.title == "Tokens")
    view.reduced_motion = True
    talk.press(Key.Key_Right)
    talk.person.wait_for(lambda: talk.content.picture is not None and talk.content.picture.title != "Tokens")
    assert not view.turning
    assert read_side(talk) == end


def test_between_two_words_the_arrows_turn_together() -> None:
    picture = make_picture("positions/rotation", compute(preset("rope")))
    assert isinstance(picture, Circles)
    assert (picture.walk[0], picture.walk[-1]) == picture.circles
    begin, middle, end = (find_circle(picture.walk, at) for at in (1.0, 1.5, 2.0))
    assert middle.first.angle == pytest.approx((begin.first.angle + end.first.angle) / 2)
    for circle in (begin, middle, end):
        between = circle.first.angle - circle.second.angle
        assert math.remainder(between - picture.circles[0].turn, 2 * math.pi) == pytest.approx(0, abs=1e-9)
    assert find_circle(picture.walk, None) == picture.circles[1]


@pytest.mark.slow
def test_l_hides_and_shows_the_labels(lecture: Callable[..., Any]) -> None:
    talk = lecture(parse(ROPE, "look"), size=(1280, 720))
    talk.press(Key.Key_Right)
    talk.person.wait_for(lambda: isinstance(talk.content.picture, Circles))
    labelled, ink = read_side(talk), QColor(LIGHT.query_ink).rgb()
    every = {labelled.pixel(x, y) for x in range(labelled.width()) for y in range(labelled.height())}
    talk.press(Key.Key_L)
    bare = read_side(talk)
    assert ink in every
    assert ink not in {bare.pixel(x, y) for x in range(bare.width()) for y in range(bare.height())}
    talk.press(Key.Key_L)
    assert read_side(talk) == labelled


@pytest.mark.parametrize("size", [(1024, 640), (1366, 768), (1920, 1080)])
@pytest.mark.parametrize("lens", ["statistics", "precision"])
@pytest.mark.parametrize("name", ["journey", "multi-head-8", "sinusoidal-100x128"])
def test_tables_of_lenses_fit_in_large_type(
    qapp: QApplication, name: str, lens: str, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    dress_type()
    fonts: list[float] = []

    def make_face(size_px: float, *, bold: bool = False) -> QFont:
        fonts.append(size_px)
        return slide_text.make_face(size_px, bold=bold)

    monkeypatch.setattr("attnlab.figures.slides.lens_table.make_face", make_face)
    trace = compute(preset(name))
    picture = make_picture(lens, trace)
    assert isinstance(picture, Table)
    content = SlideContent("A lesson", "A lens", picture=picture, whole=True)
    image = QImage(QSize(*size), QImage.Format.Format_RGB32)
    painter = QPainter(image)
    assert draw_slide(painter, Sheet(0, 0, *size), content, LIGHT).left_out == ()
    painter.end()
    assert min(fonts) >= 24 * size[1] / 1080
    weights = trace.array("weights")
    if lens == "statistics" and trace.experiment.n_heads == 1:
        found = {column.title: column.cells for column in picture.columns}
        assert found["largest"] == tuple(number(float(row.max())) for row in weights[0])
        assert found["strongest"] == tuple(trace.experiment.key_tokens[int(row.argmax())] for row in weights[0])


def test_the_picture_is_printed_as_well(qapp: QApplication, tmp_path: Path) -> None:
    text = "## Look\n\n```state\npreset: rope\nlens: positions/rotation\n```\n\nSee?\n"
    (page,) = compute_pages(parse(text, "look"))
    assert isinstance(page.picture, Circles)


def test_curves_that_end_at_one_height_are_both_drawn_and_named(qapp: QApplication) -> None:
    lines = (ChartLine("one", (0, 1), (0, 1), "query"), ChartLine("other", (0, 1), (0.5, 1), "key"))
    image = QImage(QSize(800, 500), QImage.Format.Format_RGB32)
    image.fill(QColor(LIGHT.surface))
    painter = QPainter(image)
    draw_chart(painter, Box(0, 0, 800, 500), Chart("Curves", lines, "x", log_x=False), 24, LIGHT)
    painter.end()
    first, second = (
        {y for x in range(750, 800) for y in range(500) if image.pixel(x, y) == QColor(LIGHT.role_ink(line.role)).rgb()}
        for line in lines
    )
    assert first
    assert min(second) > max(first), "a name covers the other"


@pytest.mark.parametrize("at", [0.25, 0.4, 0.5, 0.7, 0.9])
def test_the_value_of_a_dot_covers_no_curve_and_no_other_value(qapp: QApplication, at: float) -> None:
    xs = [i / 50 for i in range(51)]
    falling, level = [1 - 0.9 * x for x in xs], [0.95 for _ in xs]
    lines = (
        ChartLine("falling", tuple(xs), tuple(falling), "key"),
        ChartLine("level", tuple(xs), tuple(level), "query"),
        ChartLine("here:", (at,), (1 - 0.9 * at - 0.04,), "key", points=True),
        ChartLine("here:", (at,), (0.9,), "query", points=True),
    )
    grounds: list[QRectF] = []

    class Watched(QPainter):
        def fillRect(self, *arguments: Any) -> None:
            grounds.append(QRectF(arguments[0]))
            super().fillRect(*arguments)

    image = QImage(QSize(800, 500), QImage.Format.Format_RGB32)
    painter = Watched(image)
    chart = Chart("Curves", lines, "x", log_x=False)
    draw_chart(painter, Box(0, 0, 800, 500), chart, 24, LIGHT)
    painter.end()
    axes = lens_chart._Axes(Box(0, 0, 800, 500), chart, 24)
    first, second = grounds
    assert not first.intersects(second)
    for ys in (falling, level):
        points = [QPointF(axes.find_x(x), axes.find_y(y)) for x, y in zip(xs, ys, strict=True)]
        assert not any(ground.contains(point) for ground in grounds for point in points)


@pytest.mark.parametrize("width", range(220, 900, 40))
def test_ticks_across_that_have_room_are_regular(qapp: QApplication, width: int) -> None:
    sizes = tuple(2.0**i for i in range(10))
    chart = Chart("Curves", (ChartLine("as they are", sizes, sizes, "key"),), "dₖ", sizes)
    written: list[tuple[float, str]] = []

    class Watched(QPainter):
        def drawText(self, *arguments: Any) -> None:
            if isinstance(arguments[0], QPointF):
                written.append((arguments[0].x(), arguments[1]))

    image = QImage(QSize(width, 300), QImage.Format.Format_RGB32)
    painter = Watched(image)
    draw_chart(painter, Box(0, 0, width, 300), chart, 20, LIGHT)
    painter.end()
    ticks = [float(text) for _, text in written if text != "dₖ"]
    assert ticks[0] == 1
    assert ticks == [ticks[1] ** i for i in range(len(ticks))], "every first, second or third size"
    metrics = QFontMetricsF(make_face(20))
    ends = sorted((x, x + metrics.horizontalAdvance(text)) for x, text in written)
    assert all(end < x for (_, end), (x, _) in itertools.pairwise(ends)), "texts lie on each other"
    assert ends[-1][1] <= width


def test_the_label_of_an_axis_covers_no_name_of_a_curve(qapp: QApplication) -> None:
    lines = (ChartLine("training 0.37", (0, 600), (1, 0), "query"), ChartLine("held-out", (0, 600), (1, 0.01), "key"))
    chart = Chart("Loss", lines, "steps", (0, 150, 300, 450, 600), log_x=False, x_range=(0, 600))
    written: dict[str, QRectF] = {}

    class Watched(QPainter):
        def drawText(self, *arguments: Any) -> None:
            rect = self.boundingRect(*arguments) if isinstance(arguments[0], QRectF) else None
            if rect is None:
                metrics = QFontMetricsF(self.font())
                rect = metrics.tightBoundingRect(arguments[1]).translated(arguments[0])
            written[arguments[-1]] = rect

    image = QImage(QSize(600, 200), QImage.Format.Format_RGB32)
    painter = Watched(image)
    draw_chart(painter, Box(0, 0, 600, 200), chart, 20, LIGHT)
    painter.end()
    assert not written["steps"].intersects(written["training 0.37"])
    assert not written["steps"].intersects(written["450"])
    assert written["training 0.37"].right() <= 600, "names are bold, and wider than plain ones"


def test_the_powers_of_ten_on_an_axis_are_written_alike() -> None:
    assert [format_tick(10.0**power) for power in (-1, 0, 4, 5, 6)] == ["0.1", "1", "10,000", "100,000", "1e6"]


def test_loops_and_matrix_product_are_bars_with_their_times(qapp: QApplication) -> None:
    picture = make_picture("cost", compute(preset("loops")))
    assert isinstance(picture, Charts)
    loops, product = picture.bars
    assert (loops.name, product.name) == ("double loop", "matrix product")
    assert loops.text == f"{loops.value:.3g} ms"
    dress_type()
    image = QImage(1280, 720, QImage.Format.Format_RGB32)
    image.fill(QColor(LIGHT.ground))
    painter = QPainter(image)
    draw_lens(painter, Box(60, 200, 1160, 460), picture, Sheet(0, 0, 1280, 720), LIGHT, None, None)
    painter.end()
    colours = {bar.name: QColor(LIGHT.role(bar.role)).rgb() for bar in picture.bars}
    rows = [[image.pixel(x, y) for x in range(1280)] for y in range(200, 270)]
    long, short = (max(row.count(colours[bar.name]) for row in rows) for bar in (loops, product))
    assert long > 800
    assert short == pytest.approx(long * product.value / loops.value, abs=3)


@pytest.mark.parametrize("size", [(1366, 768), (800, 800)])
@pytest.mark.parametrize("step", [3, 10])
def test_answers_to_type_stand_beside_the_lens(lecture: Callable[..., Any], step: int, size: tuple[int, int]) -> None:
    talk = lecture(find("attention-is-geometry"), size=size)
    talk.presentation.view.reduced_motion = True
    talk.player.go(step)
    talk.wait()
    presenter = talk.presentation.presenter
    while not presenter.sheet:
        talk.press(Key.Key_Right)
        talk.wait()
    drawn, answers = talk.presentation.view.drawn, talk.presentation.parts.answers
    assert drawn.left_out == ()
    assert isinstance(talk.content.picture, Plane)
    assert answers is not None
    assert answers.isVisible()
    lens = QRect(*(round(x) for x in (drawn.side.x, drawn.side.y, drawn.side.width, drawn.side.height)))
    assert not answers.geometry().intersects(lens)
    assert answers.verticalScrollBar().maximum() == 0
    talk.press(Key.Key_O)
    talk.wait()
    assert isinstance(talk.content.picture, Plane), "the lens as in the window would give the answer"
    talk.press(Key.Key_Right)
    talk.wait()
    talk.press(Key.Key_O)
    talk.person.wait_for(lambda: talk.presentation.parts.lens is not None and talk.presentation.parts.lens.isVisible())
