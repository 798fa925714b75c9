"""The export dialog: the preview equals the file, choices are remembered, and errors are reported."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

import attnlab
from attnlab.cli.main import main
from attnlab.document.settings import Settings, load_settings, save_settings
from attnlab.figures.panels.figure_file import draw_figure, lay_out_for
from attnlab.figures.panels.figure_page import draw_steps, lay_out_page
from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.files.export.table_formats import TABLES
from attnlab.ui.export.export_dialog import ExportDialog
from attnlab.ui.export.figure_choices import read_words, write_words
from attnlab.ui.export.figure_preview import FigurePreview

Make = Callable[..., ExportDialog]


@pytest.fixture
def make(qtbot: QtBot) -> Make:
    def open_dialog(preset: str = "journey", stage: str = "weights", *choices: str) -> ExportDialog:
        dialog = ExportDialog(attnlab.compute(attnlab.preset(preset)), stage, "all", choices)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        qtbot.addWidget(dialog)
        with qtbot.waitSignal(dialog.previewed):
            dialog.show()
        return dialog

    return open_dialog


def write(qtbot: QtBot, dialog: ExportDialog, field: QLineEdit, text: str) -> None:
    """Type into a field, and wait for the preview."""
    with qtbot.waitSignal(dialog.previewed):
        field.setFocus()
        field.selectAll()
        QTest.keyClick(field, Qt.Key.Key_Delete)
        qtbot.keyClicks(field, text)
        if not text:
            field.clear()


def choose(qtbot: QtBot, dialog: ExportDialog, box: object, title: str) -> None:
    with qtbot.waitSignal(dialog.previewed):
        box.setCurrentText(title)  # type: ignore[attr-defined]


def test_the_preview_equals_the_written_figure(make: Make, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = make()
    write(qtbot, dialog, dialog.form.width_mm, "85")
    write(qtbot, dialog, dialog.form.title, "Mine")
    page = dialog.preview.page
    assert page is not None
    assert page.spec == dialog.form.read_spec() == FigureSpec(width_mm=85, title="Mine")
    held, dots = dialog.info.text().split(" · ")  # a line may end at the dot only
    assert held.startswith("85\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}")
    assert dots == "\N{NO-BREAK SPACE}".join((str(page.pixels[0]), "×", str(page.pixels[1]), "pixels"))
    assert dialog.export_to(tmp_path / "mine.png")
    written = QImage(str(tmp_path / "mine.png"))
    assert (written.width(), written.height()) == page.pixels
    shown = dialog.preview.image
    assert shown is not None
    ratio = shown.width() / shown.height()
    assert ratio == pytest.approx(written.width() / written.height(), rel=0.01)


@pytest.mark.parametrize("ground", ["Light", "Dark", "Transparent"])
@pytest.mark.parametrize("what", ["Weights", "The whole canvas"])
def test_the_preview_has_the_pixels_of_the_file(
    make: Make, qtbot: QtBot, tmp_path: Path, what: str, ground: str
) -> None:
    """At equal sizes the pixels are equal: at 96 dots per inch, three inches wide."""
    dialog = make("multi-head-causal")
    if what != "Weights":
        with qtbot.waitSignal(dialog.previewed):
            next(action for action in dialog.form.menu.actions() if action.text() == what).trigger()
    write(qtbot, dialog, dialog.form.width_mm, "76.2")
    write(qtbot, dialog, dialog.form.dpi, "96")
    if ground != "Light":
        choose(qtbot, dialog, dialog.form.ground, ground)
    page = dialog.preview.page
    assert page is not None
    preview = FigurePreview()
    qtbot.addWidget(preview)
    preview.resize(page.pixels[0] + 32, page.pixels[1] + 32)
    with qtbot.waitSignal(preview.drawn):
        preview.show_page(page)
    shown = preview.image
    assert shown is not None
    assert dialog.export_to(tmp_path / "same.png")
    argb = QImage.Format.Format_ARGB32
    assert shown.convertToFormat(argb) == QImage(str(tmp_path / "same.png")).convertToFormat(argb)


def test_usual_sizes_are_choices(make: Make, qtbot: QtBot) -> None:
    dialog = make()
    dialog.form.preset.setCurrentText("Slide, 16:9")
    with qtbot.waitSignal(dialog.previewed):
        dialog.form.preset.activated.emit(dialog.form.preset.currentIndex())
    spec = dialog.form.read_spec()
    assert (spec.width_mm, spec.height_mm, spec.font_pt) == (338.7, 190.5, 18)
    write(qtbot, dialog, dialog.form.width_mm, "85")
    assert dialog.form.preset.currentText() == "Own size"
    write(qtbot, dialog, dialog.form.height_mm, "")
    write(qtbot, dialog, dialog.form.font_pt, "7.5")
    assert dialog.form.preset.currentText() == "One column"


@pytest.mark.parametrize(
    ("field", "text", "sentence"),
    [
        ("width_mm", "3", "The width cannot be 3 mm, only 20 to 1000 mm."),
        ("width_mm", "wide", "Width: 'wide' is not a number"),
        ("dpi", "12.5", "Dots per inch: “12.5” is not a whole number, such as 300."),
        ("font_pt", "200", "The type cannot have 200 points, only 3 to 72 points."),
        ("width_mm", "nan", "Width: 'nan' is not a finite number"),
    ],
)
def test_an_impossible_figure_is_reported_and_the_last_one_stays(
    make: Make, qtbot: QtBot, field: str, text: str, sentence: str
) -> None:
    dialog = make()
    before = dialog.preview.image
    write(qtbot, dialog, getattr(dialog.form, field), text)
    assert dialog.message.text().startswith(sentence)
    assert dialog.message.isVisible()
    assert not dialog.save_button.isEnabled()
    assert dialog.preview.image is before
    write(qtbot, dialog, getattr(dialog.form, field), {"dpi": "300", "font_pt": "8"}.get(field, "85"))
    assert not dialog.message.isVisible()
    assert dialog.save_button.isEnabled()


def test_a_failed_save_is_reported_and_the_dialog_stays_open(make: Make, tmp_path: Path) -> None:
    dialog = make()
    assert not dialog.export_to(tmp_path / "missing" / "a.png")
    assert "a.png cannot be written" in dialog.message.text()
    assert dialog.isVisible()


def test_several_stages_can_be_chosen_in_the_menu(make: Make, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = make("multi-head-causal")
    actions = {action.text(): action for action in dialog.form.menu.actions()}
    with qtbot.waitSignal(dialog.previewed):
        actions["Scores"].trigger()
    assert dialog.form.what.text() == "Scores and 1 more"
    assert dialog.form.read_spec().stages == ("scores", "weights")
    assert dialog.form.name.text() == "scores-weights"
    with qtbot.waitSignal(dialog.previewed):
        actions["The whole canvas"].trigger()
    assert dialog.form.read_spec().canvas
    assert dialog.export_to(tmp_path / "all.svg")
    texts = {each.text for each in ElementTree.parse(tmp_path / "all.svg").iter("{http://www.w3.org/2000/svg}text")}
    assert {"Inputs", "Output"} <= texts


def test_the_last_stage_cannot_be_removed(make: Make) -> None:
    dialog = make()
    actions = {action.text(): action for action in dialog.form.menu.actions()}
    actions["Weights"].trigger()
    assert dialog.form.stages == ("weights",)
    assert actions["Weights"].isChecked()


def test_a_table_of_several_stages_is_refused(make: Make, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = make()
    dialog.form.choose(("scores", "weights"))
    choose(qtbot, dialog, dialog.form.format, "Table (CSV)")
    assert dialog.message.text() == "A table holds one stage; choose one stage, or a figure format."
    assert not dialog.save_button.isEnabled()
    assert not dialog.export_to(tmp_path / "a.csv")
    assert dialog.message.text() == "A table holds one stage; choose one stage, or a figure format."
    assert not (tmp_path / "a.csv").exists()


def test_copying_provides_a_picture_and_an_svg(make: Make, qtbot: QtBot) -> None:
    dialog = make()
    write(qtbot, dialog, dialog.form.width_mm, "60")
    QTest.mouseClick(dialog.copy_button, Qt.MouseButton.LeftButton)
    held = QGuiApplication.clipboard().mimeData()
    picture = QImage.fromData(held.data("image/png"), "PNG")
    assert picture.width() == round(60 / 25.4 * 300)
    wanted = draw_figure(attnlab.compute(attnlab.preset("journey")), FigureSpec(width_mm=60))
    assert picture.convertToFormat(QImage.Format.Format_RGB32) == wanted.convertToFormat(QImage.Format.Format_RGB32)
    assert ElementTree.fromstring(bytes(held.data("image/svg+xml").data())).get("width") == "60mm"
    assert dialog.info.text() == "Copied as PNG and as SVG"
    QGuiApplication.clipboard().clear()


@pytest.mark.parametrize(("action", "title"), [("copy-picture", "Weights"), ("copy-canvas", "Inputs")])
def test_copying_a_picture_uses_the_last_choices_of_the_dialog(
    sit_down: "Callable[..., Person]", action: str, title: str
) -> None:
    person = sit_down("journey")
    person.window.change_settings(figure=write_words(FigureSpec(width_mm=100, dpi=150, colour_map="viridis"), "pdf"))
    assert person.window.actions_list.run(action)
    held = QGuiApplication.clipboard().mimeData()
    picture = QImage.fromData(held.data("image/png"), "PNG")
    assert held.hasImage()
    assert picture.width() == round(100 / 25.4 * 150)
    assert picture.dotsPerMeterX() == round(150 / 0.0254)
    root = ElementTree.fromstring(bytes(held.data("image/svg+xml").data()))
    assert root.get("width") == "100mm"
    assert title in {each.text for each in root.iter("{http://www.w3.org/2000/svg}text")}
    assert f"{picture.width()} × {picture.height()} pixels" in person.message()
    QGuiApplication.clipboard().clear()


def test_every_field_has_a_name_and_a_tool_tip(make: Make) -> None:
    dialog = make()
    for field in dialog.form.findChildren(QWidget):
        if field.focusPolicy() != Qt.FocusPolicy.NoFocus and field.isVisible():
            assert field.accessibleName() or getattr(field, "text", str)(), field
            assert field.toolTip(), field
    assert all(button.toolTip() for button in dialog.findChildren(QPushButton))


def test_many_heads_are_drawn_in_slices(qtbot: QtBot) -> None:
    """The window responds between two rows of maps: another figure is requested during drawing."""
    trace = attnlab.compute(attnlab.preset("multi-head-8"))
    preview = FigurePreview()
    qtbot.addWidget(preview)
    preview.resize(400, 300)
    pages = [lay_out_page(trace, FigureSpec(columns=columns)) for columns in (1, 2)]
    with qtbot.waitSignal(preview.drawn):
        preview.show_page(pages[0])
        preview.show_page(pages[1])
    assert preview.page is pages[1]
    assert preview.image is not None
    assert preview.image.width() / preview.image.height() == pytest.approx(pages[1].width / pages[1].height, rel=0.02)


def test_after_a_failed_figure_the_previous_one_is_not_saved(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, provoked: Callable[[], list[str]]
) -> None:
    page = lay_out_page(attnlab.compute(attnlab.preset("journey")), FigureSpec())
    preview = FigurePreview()
    qtbot.addWidget(preview)
    preview.resize(400, 300)
    with qtbot.waitSignal(preview.drawn):
        preview.show_page(page)
    assert preview.image is not None
    monkeypatch.setattr("attnlab.ui.export.figure_preview.draw_steps", lambda *_: iter([][0]))
    with qtbot.waitSignal(preview.drawn):
        preview.show_page(page)
    assert preview.image is None
    assert provoked() == ["IndexError: list index out of range"]


# What is remembered


def test_choices_are_restored_from_the_settings(tmp_path: Path) -> None:
    spec = FigureSpec(
        width_mm=85.0,
        height_mm=60.0,
        dpi=600,
        labels=False,
        numbers="on",
        decimals=1,
        colour_bar=False,
        colour_map="vik",
        font_pt=9.0,
        ground="transparent",
    )
    save_settings(Settings(figure=write_words(spec, "svg")), tmp_path / "settings.json")
    settings, wrong = load_settings(tmp_path / "settings.json")
    assert wrong == ()
    assert read_words(settings.figure) == (spec, "svg")


def test_an_invalid_setting_is_dropped_alone(tmp_path: Path) -> None:
    found, ending = read_words(("width_mm=-3", "dpi=many", "colour_map=jet", "font_pt=9", "format=exe", "what=this"))
    assert (found, ending) == (FigureSpec(font_pt=9.0), "png")
    (tmp_path / "settings.json").write_text('{"version": 1, "figure": [1, 2]}', encoding="utf-8")
    settings, wrong = load_settings(tmp_path / "settings.json")
    assert settings.figure == ()
    assert "figure must be a list of up to 32 choices such as width_mm=85, not [1, 2]" in wrong[0]


def test_the_dialog_remembers_its_choices(sit_down: "Callable[..., Person]", tmp_path: Path) -> None:
    person = sit_down("journey")

    def opened() -> ExportDialog:
        person.key(Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
        found = [each for each in person.window.findChildren(ExportDialog) if each.isVisible()]
        assert len(found) == 1
        person.wait_for(lambda: found[0].preview.image is not None)
        return found[0]

    dialog = opened()
    dialog.form.width_mm.setText("85")
    dialog.form.format.setCurrentText("PDF")
    person.wait_for(lambda: dialog.preview.page is not None and dialog.preview.page.spec.width_mm == 85)
    assert dialog.export_to(tmp_path / "w.pdf")
    assert person.message() == f"Saved {tmp_path / 'w.pdf'}"
    again = opened()
    assert again.form.width_mm.text() == "85"
    assert again.form.ending == "pdf"
    again.close()


if TYPE_CHECKING:
    from tests.ui.conftest import Person


def test_a_cancelled_preview_ends_its_painter(qapp: object) -> None:
    image = QImage(600, 600, QImage.Format.Format_ARGB32_Premultiplied)
    painter = QPainter(image)
    trace = attnlab.compute(attnlab.preset("multi-head-8"))
    drawing = draw_steps(painter, lay_out_for(trace, FigureSpec(stages=("scores", "weights")), ".png"))
    next(drawing)
    drawing.close()
    painter.end()  # Qt says so if a state is left on the painter, and the test fails


def test_the_dialog_begins_with_the_selected_head_and_says_so(
    sit_down: "Callable[..., Person]", qtbot: QtBot, tmp_path: Path
) -> None:
    person = sit_down("multi-head-8")
    person.click_cell("weights", 1, 1, index=5)
    person.settle()
    assert person.document.view.head == "all"
    person.press("Export")
    dialog = person.window.findChild(ExportDialog)
    assert dialog is not None
    assert dialog.form.heads.currentText() == "Head 5 (held)"
    assert dialog.form.read_spec().head == 5
    assert dialog.form.stages == ("weights",)
    dialog.form.format.setCurrentIndex(dialog.form.format.findData("npy"))
    assert dialog.export_to(tmp_path / "held.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "held.npy"), person.painted("weights")[5])
    person.key(Qt.Key.Key_Escape)
    person.press("Export")
    dialog = next(each for each in person.window.findChildren(ExportDialog) if each.isVisible())
    assert dialog.form.heads.currentText() == "All"
    dialog.close()


def test_a_visible_head_or_the_mean_is_not_called_selected(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("multi-head-8")
    person.click_cell("weights", 1, 1, index=5)
    for head, text in ((3, "Head 3"), ("mean", "Mean")):
        person.document.show(head=head)
        person.press("Export")
        dialog = next(each for each in person.window.findChildren(ExportDialog) if each.isVisible())
        assert dialog.form.heads.currentText() == text
        dialog.close()


@pytest.mark.parametrize("ending", TABLES)
def test_the_window_writes_every_table_format_of_the_command_line(make: Make, tmp_path: Path, ending: str) -> None:
    dialog = make("multi-head-8")
    dialog.form.format.setCurrentIndex(dialog.form.format.findData(ending.removeprefix(".")))
    assert dialog.form.ending == ending.removeprefix(".")
    assert dialog.export_to(tmp_path / f"window{ending}")
    assert main(["export", "preset:multi-head-8", "-o", str(tmp_path / f"line{ending}")]) == 0
    assert (tmp_path / f"window{ending}").read_bytes() == (tmp_path / f"line{ending}").read_bytes()


def test_the_file_name_is_seen_without_scrolling(make: Make, qtbot: QtBot) -> None:
    dialog = make()
    name = dialog.form.name
    qtbot.waitUntil(lambda: name.visibleRegion().boundingRect() == name.rect())
    assert dialog.height() <= 640
    assert (dialog.form.width_mm.accessibleName(), dialog.form.height_mm.accessibleName()) == (
        "Width, mm",
        "Height, mm",
    )
