"""Theme, size of type and place of the window: chosen once, saved, and applied everywhere at once."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QSize, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QGraphicsView, QLabel, QLineEdit, QWidget

from attnlab.document.settings import Settings, load_settings, settings_path
from attnlab.figures.palette import DARK, LIGHT, PALETTES, Palette
from attnlab.ui.widgets.charts.curves import Curves
from tests.ui.explained import ask_for_formula
from tests.ui.popups import close, popup_of

if TYPE_CHECKING:
    from attnlab.ui.app.main_window import MainWindow
    from tests.ui.conftest import Person

Key, Mod = Qt.Key, Qt.KeyboardModifier
CTRL = Mod.ControlModifier


def command(person: "Person", query: str) -> None:
    """Run a command by its name from the palette."""
    person.key(Key.Key_K, CTRL)
    person.type(query)
    person.key(Key.Key_Return)


def colours(person: "Person") -> set[str]:
    """Return the colours of the window's large surfaces, as far as visible: canvas, inputs, explanation, bars."""
    places: list[tuple[QWidget, QPoint]] = [
        (person.playground.canvas, QPoint(4, 4)),
        (person.card("inputs"), QPoint(person.card("inputs").width() // 2, 4)),
        (person.playground.inputs.viewport(), QPoint(4, 4)),
        (person.playground.explain.viewport(), QPoint(4, 4)),
        (person.playground.step_bar, QPoint(5, 5)),
        (person.playground.top_bar, QPoint(5, 5)),
    ]
    seen = [(widget, at) for widget, at in places if widget.isVisible()]
    return {widget.grab().toImage().pixelColor(at).name().upper() for widget, at in seen}


@pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda palette: palette.name)
def test_a_theme_applies_to_every_surface(sit_down: Callable[..., "Person"], palette: Palette) -> None:
    person = sit_down(settings=Settings(theme=palette.name))
    assert colours(person) == {palette.ground, palette.surface}


@pytest.mark.slow
def test_a_theme_can_be_changed_and_changed_back(person: "Person") -> None:
    command(person, "theme dark")
    assert colours(person) == {DARK.ground, DARK.surface}
    person.press("Causal")
    person.settle()
    person.click_cell("weights", 2, 1)
    assert colours(person) == {DARK.ground, DARK.surface}
    command(person, "theme light")
    assert colours(person) == {LIGHT.ground, LIGHT.surface}


def test_an_explicit_theme_does_not_follow_the_system(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down(settings=Settings(theme="light"))
    QApplication.styleHints().setColorScheme(Qt.ColorScheme.Dark)
    assert colours(person) == {LIGHT.ground, LIGHT.surface}


def test_without_a_system_preference_the_theme_is_light(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down(settings=Settings(theme="dark"))
    command(person, "theme system")
    assert person.window.settings.theme == "system"
    assert colours(person) == {LIGHT.ground, LIGHT.surface}


def test_the_explanation_is_legible_after_a_change_of_theme(person: "Person") -> None:
    person.click_cell("weights", 2, 1)
    ask_for_formula(person)
    lines = next(
        label
        for label in person.playground.explain.findChildren(QLabel)
        if label.accessibleName().startswith("The cell as arithmetic: ")
    )
    assert LIGHT.role_ink("query") in lines.text()
    command(person, "theme dark")
    assert DARK.role_ink("query") in lines.text()
    assert LIGHT.role_ink("query") not in lines.text()


@pytest.mark.parametrize("size", [70, 100, 150, 250])
@pytest.mark.parametrize("window", [(720, 480), (1440, 900)])
def test_at_every_size_of_type_everything_can_be_painted_and_reached(
    sit_down: Callable[..., "Person"], size: int, window: tuple[int, int]
) -> None:
    person = sit_down("multi-head-causal", settings=Settings(theme="light", type_size=size))
    person.window.resize(*window)
    person.click_cell("output", 0, 0)
    person.window.grab()
    assert person.window.size() == QSize(*window)
    canvas = person.playground.canvas
    assert canvas.width() > 100
    for name in ("inputs", "output"):
        card = person.card(name)
        assert card.height() > 60


@pytest.mark.slow
def test_choices_are_saved(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down(remember=True)
    command(person, "theme dark")
    person.key(Key.Key_Plus, CTRL)
    kept, problems = load_settings()
    assert (kept.theme, kept.type_size, problems) == ("dark", 110, ())
    again = sit_down(settings=kept, remember=True)
    assert again.window.settings == kept
    assert colours(again) == {DARK.ground, DARK.surface}


def test_the_position_of_the_window_is_saved(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down(remember=True)
    person.window.showNormal()
    person.window.setGeometry(20, 50, 777, 555)
    QApplication.processEvents()
    person.window.close()
    assert sit_down(remember=True).window.size() == QSize(777, 555)


def test_the_first_window_fits_its_screen(open_window: Callable[..., "MainWindow"]) -> None:
    window = open_window(remember=True)
    room = window.screen().availableGeometry()
    assert room.contains(window.geometry())
    assert window.isMaximized() is (room.width() < 1440 or room.height() < 940)


def test_a_window_saved_on_a_larger_screen_fits_this_one(open_window: Callable[..., "MainWindow"]) -> None:
    window = open_window(remember=True)
    room = window.screen().availableGeometry()
    window.showNormal()
    window.setGeometry(room.x() + 100, room.y() + 200, room.width() + 300, room.height() + 200)
    QApplication.processEvents()
    window.close()
    assert room.contains(open_window(remember=True).geometry())


def test_a_screenshot_window_saves_nothing(sit_down: Callable[..., "Person"], config_dir: Path) -> None:
    person = sit_down(remember=False)
    command(person, "theme dark")
    person.window.resize(800, 600)
    person.window.close()
    assert list(config_dir.iterdir()) == []


def test_settings_that_cannot_be_saved_are_reported_and_still_apply(
    sit_down: Callable[..., "Person"], config_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = sit_down(remember=True)
    (config_dir / "file").write_text("in the way")
    monkeypatch.setenv("ATTNLAB_CONFIG_DIR", str(config_dir / "file" / "below"))
    command(person, "theme dark")
    assert str(settings_path()) in person.message()
    assert colours(person) == {DARK.ground, DARK.surface}


def test_a_saved_session_is_a_recent_file_after_restart(sit_down: Callable[..., "Person"], tmp_path: Path) -> None:
    person = sit_down(remember=True)
    person.playground.files.save_to(tmp_path / "kept.attnlab")
    assert load_settings()[0].recent == (str(tmp_path / "kept.attnlab"),)


def test_panels_keep_their_chosen_width(person: "Person") -> None:
    handle = person.playground.body.handle(2)  # the first is that of the folded inputs
    before = person.playground.inputs.width()
    person.drag(handle, handle.rect().center(), (30, 0), (80, 0))
    given = person.playground.inputs.width()
    assert given == pytest.approx(before + 80, abs=4)
    person.window.resize(1300, 800)
    assert person.playground.inputs.width() == given


def test_a_narrow_window_keeps_the_canvas(person: "Person") -> None:
    person.window.resize(720, 480)
    assert person.playground.canvas.width() >= 240
    person.window.resize(1440, 900)
    assert person.playground.canvas.width() > 600


@pytest.mark.slow
def test_a_hidden_lens_has_the_new_theme_when_shown(person: "Person") -> None:
    lenses = person.playground.lenses
    lenses.open_lens("saturation")
    lenses.open_lens("canvas")
    command(person, "theme dark")
    lenses.open_lens("saturation")
    shown = {curves.grab().toImage().pixelColor(20, 4).name().upper() for curves in lenses.findChildren(Curves)}
    assert shown == {DARK.surface}


def test_popups_that_are_open_follow_the_theme(person: "Person") -> None:
    popup = popup_of(person, "Heads")
    person.window.set_theme("dark")
    ground = popup.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    at = {(12, 12), (12, ground.height() // 2), (12, ground.height() - 12)}
    assert {ground.pixelColor(*place).name().upper() for place in at} <= {DARK.surface, DARK.control}
    close(person, "Heads")
    person.playground.open_gallery()
    person.window.set_theme("light")
    gallery = person.playground.gallery
    assert gallery.grab().toImage().pixelColor(8, gallery.height() // 2).name().upper() == LIGHT.surface
    gallery.hide()


@pytest.mark.slow
def test_changing_theme_and_size_of_type_leaks_nothing(person: "Person") -> None:
    window = person.window
    for kind in window.kinds:
        window.show_workspace(kind.name)
        person.settle()
    person.key(Key.Key_K, CTRL)
    person.key(Key.Key_Escape)

    def there() -> Counter[str]:
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        found = Counter(type(each).__name__ for each in window.findChildren(QObject))
        found.update(
            type(item).__name__ for view in window.findChildren(QGraphicsView) for item in view.scene().items()
        )
        return found

    def change() -> None:
        for theme in ("dark", "light"):
            window.set_theme(theme)
            person.settle()
        for step in (1, 0):
            window.step_type_size(step)
            person.settle()

    change()  # what is made when it is first painted is there now
    before = there()
    for _ in range(3):
        change()
    assert there() - before == Counter()


def test_the_command_palette_opens_with_the_large_type_of_the_settings(sit_down: Callable[..., "Person"]) -> None:
    palette = sit_down(settings=Settings(type_size=175)).window.command_palette
    fields = palette.findChildren(QLineEdit)
    assert [field.font().pixelSize() for field in fields] == [QApplication.font().pixelSize()]
