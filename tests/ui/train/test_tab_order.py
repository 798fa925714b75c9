"""Tab goes through the training workspace from above: the bar, the panels from the left, and the bar below."""

from PySide6.QtWidgets import QPushButton, QWidget

from tests.ui.train.conftest import Student


def test_tab_reaches_late_buttons_where_they_stand(student: Student) -> None:
    """Buttons that need the playground are added to the panels last, and so are the sections below the settings."""
    ws = student.ws
    buttons = {button.text(): button for button in student.window.findChildren(QPushButton) if button.isVisible()}
    below = [ws.settings.fold, buttons["Seeds 0 to 4"], buttons["Heads 1, 2, 4"]]
    middle = [ws.maps.head.probe, ws.maps.view]
    right = [ws.curves.loss, ws.curves.right, buttons["Open in Playground"], ws.text.prompt]
    expected = [ws.header.reset, buttons["Export"], ws.settings.task, *below, *middle, *right, ws.footer.line]
    places = _number_by_tab(student.window)
    assert sorted(expected, key=lambda each: places[each]) == expected


def test_tab_goes_through_the_settings_as_they_stand(student: Student) -> None:
    ws, settings = student.ws, student.ws.settings
    settings.choose_task("Copy")  # its fields are newer than all else
    settings.choose_task("Reverse")
    fields = [settings.options, settings.model, settings.train]
    stops = [stop for each in fields for stop in each.stops()]
    expected = [settings.task, *stops, settings.fold, ws.maps.head.probe, ws.footer.line]
    places = _number_by_tab(student.window)
    assert sorted(expected, key=lambda each: places[each]) == expected


def _number_by_tab(window: QWidget) -> dict[QWidget, int]:
    """Return the place of each widget of a window in the order of Tab, which begins after the window itself."""
    places: dict[QWidget, int] = {}
    widget = window.nextInFocusChain()
    while widget is not window:
        places[widget] = len(places)
        widget = widget.nextInFocusChain()
    return places
