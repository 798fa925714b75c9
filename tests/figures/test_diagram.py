"""Diagrams of all kinds of models: everything lies inside, texts do not meet, and files agree with the screen."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import pytest
from PySide6.QtGui import QGuiApplication, QImage

from attnlab.base.errors import AttnlabError
from attnlab.figures.diagram.answer_shapes import draw_answers
from attnlab.figures.diagram.diagram_data import Diagram, DiagramData, Opened
from attnlab.figures.diagram.diagram_file import PIXEL_RATIO, encode_diagram
from attnlab.figures.diagram.diagram_layout import lay_out_beside, lay_out_diagram
from attnlab.figures.diagram.diagram_walk import describe_step, list_shown, list_steps
from attnlab.figures.diagram.scene import FACES, Box, Cells, Label, Rect, Scene, Sign, Stroke
from attnlab.figures.diagram.scene_painter import measure_label
from attnlab.figures.palette import DARK, LIGHT
from attnlab.training import tasks
from attnlab.training.first_weights import draw_first_weights
from attnlab.training.look import Viewer
from attnlab.training.model_view import Guess
from attnlab.training.specs import ModelSpec

pytestmark = pytest.mark.usefixtures("qapp")

MODELS = [
    *(("reverse", kind) for kind in tasks.TASKS["reverse"].kinds),
    ("dates", "encoder-decoder"),
    ("dates", "bahdanau"),
    ("dates", "recurrent"),
    ("characters", "decoder"),
    ("masked", "encoder"),
    ("sum", "attention"),
]
WIDTHS = (300, 420, 700, 774, 1100)


def draw(task: str, kind: str, **sizes: int | str) -> DiagramData:
    spec = tasks.make_spec(task, kind)
    spec = replace(spec, model=replace(spec.model, **sizes))  # type: ignore[arg-type]
    viewer, weights = Viewer(spec), draw_first_weights(spec)
    probe = viewer.data.probe_text
    maps = {each.layer: (each.weights, each.hidden) for each in viewer.look(0, weights, probe).maps}
    return DiagramData(viewer.look_inside(weights, probe), maps)


def lay_out(data: DiagramData, width: float, opened: Opened | None = None) -> Scene:
    return lay_out_diagram(data, width, opened or Opened(), measure_label)


def find_box(label: Label) -> Rect:
    width, height = measure_label(label.text, label.face), FACES[label.face][0] * 0.9
    return label.x - label.across * width, label.y - height / 2, width, height


def list_boxes(scene: Scene) -> Iterator[Rect]:
    for shape in scene.shapes:
        if isinstance(shape, Box | Cells):
            yield shape.rect
        elif isinstance(shape, Label):
            yield find_box(shape)
        elif isinstance(shape, Sign):
            yield shape.x - shape.size / 2, shape.y - shape.size / 2, shape.size, shape.size
        elif isinstance(shape, Stroke):
            xs, ys = [x for x, _ in shape.points], [y for _, y in shape.points]
            yield min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)


def meet(one: Rect, other: Rect) -> bool:
    across = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    down = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    return across > 1 and down > 1


def assert_legible(scene: Scene, width: float) -> None:
    """Assert that everything lies inside the scene, and that no two texts meet."""
    assert scene.width >= width
    for x, y, wide, high in list_boxes(scene):
        assert x >= -0.5
        assert y >= -0.5
        assert x + wide <= scene.width + 0.5
        assert y + high <= scene.height + 0.5
    labels = [shape for shape in scene.shapes if isinstance(shape, Label) and shape.text]
    for one, other in combinations(labels, 2):
        assert not meet(find_box(one), find_box(other)), f"{one.text!r} meets {other.text!r} at {width}"


@pytest.mark.parametrize(("task", "kind"), MODELS)
def test_nothing_is_cut_and_no_two_texts_meet(task: str, kind: str) -> None:
    data = draw(task, kind)
    for width in WIDTHS:
        assert_legible(lay_out(data, width), width)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_title_of_a_block_with_many_heads_is_whole_and_its_parameters_are_written(width: float) -> None:
    data = draw("reverse", "encoder-decoder", layers=2, heads=8, d_model=48)
    texts = [shape.text for shape in lay_out(data, width).shapes if isinstance(shape, Label)]
    assert "Masked self-attention" in texts
    assert not [text for text in texts if "…" in text]
    assert sum("9,408" in text for text in texts) >= 3


@pytest.mark.parametrize("norm", ["before", "after", "none"])
def test_many_layers_fold_and_unfold(norm: str) -> None:
    data = draw("reverse", "encoder-decoder", layers=12, heads=12, d_model=48, norm=norm)
    folded = lay_out(data, 774)
    opened = lay_out(data, 774, Opened(unfolded=frozenset({"Decoder"})))
    assert opened.height > 3 * folded.height
    names = {region.name for region in folded.regions}
    assert "decoder 12 cross-attention" in names
    assert "decoder 3 cross-attention" not in names
    first = lay_out(data, 774, Opened().choose("Decoder", 2))
    assert "decoder 3 cross-attention" in {region.name for region in first.regions}
    assert {f"decoder {i} feed-forward" for i in range(1, 13)} <= {region.name for region in opened.regions}


def test_a_norm_stands_on_the_stream_or_on_the_branch() -> None:
    """After each part it stands on the stream, before it on the branch."""
    middles = {}
    for norm in ("before", "after"):
        scene = lay_out(draw("reverse", "decoder", norm=norm), 500)
        stream = next(shape.points[0][0] for shape in scene.shapes if isinstance(shape, Stroke) and shape.width == 4)
        region = scene.find("decoder 2 attention norm")
        assert region is not None
        middles[norm] = abs(region.rect[0] + region.rect[2] / 2 - stream)
    assert middles["after"] < 1
    assert middles["before"] > 20


def test_heads_are_thirty_pixels_and_more_than_fit_take_two_rows() -> None:
    scene = lay_out(draw("reverse", "encoder-decoder", heads=8, d_model=128, norm="after"), 774)
    eight = [scene.find(f"decoder 2 attention · head {head}") for head in range(8)]
    assert {round(max(each.rect[2:])) for each in eight if each is not None} == {30}
    assert len({each.rect[1] for each in eight if each is not None}) == 1
    sixteen = lay_out(draw("reverse", "encoder-decoder", heads=16, d_model=128, norm="after"), 774)
    rows = {region.rect[1] for region in sixteen.regions if region.name.startswith("decoder 2 attention · head")}
    assert len(rows) == 2


def test_a_fan_is_as_thick_as_its_weights() -> None:
    data = draw("reverse", "luong")
    scene = lay_out(data, 700, Opened(step=3))
    fan = [shape for shape in scene.shapes if isinstance(shape, Stroke) and shape.ink == "attention"]
    weights = data.maps["alignment"][0][0, 3]
    assert sorted(stroke.width for stroke in fan) == pytest.approx(sorted(max(34 * w, 1.2) for w in weights), rel=1e-5)
    numbers = {shape.text for shape in scene.shapes if isinstance(shape, Label) and shape.ink == "attention_ink"}
    assert {f"{w:.2f}" for w in weights} == numbers


def test_totals_are_written() -> None:
    data = draw("reverse", "encoder-decoder", layers=3, heads=8, d_model=128, d_ff=512)
    texts = {shape.text for shape in lay_out(data, 774).shapes if isinstance(shape, Label)}
    tree = data.inside.tree
    assert f"{tree.total:,}" in texts
    assert {"66,048", "131,712", "× 3", "mask: causal + padding", "[7, 128]"} <= texts


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_png_svg_and_pdf_hold_the_diagram(qapp: QGuiApplication, palette: object) -> None:
    scene = lay_out(draw("reverse", "encoder-decoder"), 774)
    png = encode_diagram(scene, LIGHT if palette is LIGHT else DARK, ".png", "Reverse")
    image = QImage.fromData(png)
    assert (image.width(), image.height()) == (round(scene.width * PIXEL_RATIO), round(scene.height * PIXEL_RATIO))
    width_mm = scene.width / 96 * 25.4
    assert image.width() / image.dotsPerMeterX() * 1000 == pytest.approx(width_mm, rel=1e-3)
    svg = encode_diagram(scene, LIGHT, ".svg", "Reverse").decode()
    assert [float(size) for size in re.findall(r'<svg width="([\d.]+)mm"', svg)] == [pytest.approx(width_mm, rel=1e-3)]
    texts = set(re.findall(r">([^<>]+)</text>", svg))
    written = {shape.text.replace("&", "&amp;") for shape in scene.shapes if isinstance(shape, Label)}
    assert {"Cross-attention", "Memory", f"{97_741:,}"} <= texts & written
    pdf = encode_diagram(scene, LIGHT, ".pdf", "Reverse")
    (page,) = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ", pdf)
    assert float(page) / 72 * 25.4 == pytest.approx(width_mm, rel=1e-3)
    with pytest.raises(AttnlabError, match="gif"):
        encode_diagram(scene, LIGHT, ".gif", "Reverse")


def test_texts_of_an_svg_are_anchored_where_they_are_aligned() -> None:
    scene = Scene(300, 100)
    scene.add(*(Label(10, 10 + 20 * row, text) for row, text in enumerate(("asked", "written freely", "a j", "b"))))
    scene.add(*(Label(280, 10 + 20 * row, text, across=1) for row, text in enumerate(("expected", "a j", "c"))))
    scene.add(Label(150, 50, "in the middle", across=0.5))
    svg = encode_diagram(scene, LIGHT, ".svg", "Texts").decode()
    anchors = re.findall(r'<text [^>]*text-anchor="(\w+)"', svg)
    assert anchors == ["start"] * 4 + ["end"] * 3 + ["middle"]


def test_a_diagram_of_any_recurrent_size_has_all_its_states() -> None:
    spec = ModelSpec("recurrent", d_model=6)
    data = draw("reverse", "recurrent", d_model=spec.d_model)
    scene = lay_out(data, 390)
    assert sum(region.name.startswith("state ") for region in scene.regions) == 6
    assert sum(region.name.startswith("step ") for region in scene.regions) == 7
    assert "one vector" in {shape.text for shape in scene.shapes if isinstance(shape, Label)}


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [("decoder", "encoder"), ("recurrent", "luong"), ("encoder-decoder", "decoder")])
def test_two_models_stand_on_one_level_and_share_nothing(kinds: tuple[str, str]) -> None:
    diagrams = [Diagram(replace(draw("reverse", kind), heading=kind * 20), Opened()) for kind in kinds]
    for width in WIDTHS:
        scene = lay_out_beside(diagrams, width, measure_label)
        assert_legible(scene, width)
        first = [each for each in scene.regions if not each.name.startswith("2. ")]
        second = [each for each in scene.regions if each.name.startswith("2. ")]
        assert max(x + w for x, _, w, _ in (each.rect for each in first)) < min(each.rect[0] for each in second)
        titles = [each for each in scene.shapes if isinstance(each, Label) and each.text.startswith(kinds)]
        assert len({each.y for each in titles}) == 1


def test_blocks_of_two_models_that_do_the_same_are_one_step() -> None:
    diagrams = [Diagram(draw("reverse", kind), Opened()) for kind in ("encoder-decoder", "encoder")]
    whole, *steps = list_steps(diagrams)
    assert whole == (None, None)
    names = [tuple("" if block is None else block.name for block in step) for step in steps]
    both = list(filter(all, names))
    assert [second for _, second in both] == [
        block.name for block in list_shown(diagrams[1].data.inside.tree, Opened())
    ]
    assert ("encoder 2 attention", "encoder 2 attention") in both
    assert ("memory", "") in names
    assert both[-1] == names[-1] == ("output", "output")
    for step in steps:
        told = describe_step(diagrams, step)
        assert len(told) == 1 or len(told) == sum(block is not None for block in step)
        for block in filter(None, step):
            assert any(block.title == words.title for words in told)
            assert any(f"{block.total:,} parameters" in words.sizes for words in told) or not block.total


@pytest.mark.parametrize("count", [7, 9])
def test_answers_are_written_in_full_where_their_columns_have_room(count: int) -> None:
    guesses, scene = [Guess("comment", (("comment", 0.9), ("où", 0.1)), 0.9)] * count, Scene(900)
    draw_answers(scene, guesses, 0, 0, 900, measure_label, ())
    texts = [shape.text for shape in scene.shapes if isinstance(shape, Label)]
    assert texts.count("comment") == count
    assert_legible(Scene(900, 92, scene.shapes), 900)
