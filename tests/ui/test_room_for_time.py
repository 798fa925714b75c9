"""The bar below keeps room for the time of a computation, whatever the size of type."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.ui.conftest import Person


def test_larger_type_keeps_room_for_the_time(person: "Person") -> None:
    label = person.playground.step_bar.figures.time
    person.window.resize(1366, 768)
    person.settle()
    small = label.minimumWidth()
    person.window.change_settings(type_size=140)
    person.wait_for(lambda: label.fontMetrics().horizontalAdvance(label.text()) > 1.2 * small / 1.4)
    person.settle()
    assert label.minimumWidth() >= 1.3 * small
