"""A lecture on two screens of different sizes and scales; run by ``test_speaker_window.py`` in a process of its own."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from tests.ui.lessons.test_lesson_recording import find_controller

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from tests.ui.conftest import Person

Key = Qt.Key


def test_slides_and_notes_swap_screens_and_back(sit_down: "Callable[..., Person]") -> None:
    person = sit_down()
    screens = {screen.name(): screen for screen in QGuiApplication.screens()}
    laptop, projector = screens["laptop"].geometry(), screens["projector"].geometry()
    person.window.setGeometry(laptop.adjusted(20, 20, -60, -60))
    person.wait_for(lambda: person.window.screen() is screens["laptop"])
    controller = find_controller(person)
    assert controller.open("six-words", 3)
    person.settle()
    person.key(Key.Key_F5)
    slides = controller.presentation
    assert slides is not None
    QTest.keyClick(slides, Key.Key_N)
    speaker = slides.speaker
    assert speaker is not None

    def stand(of: "QWidget") -> str:
        return of.screen().name()

    person.wait_for(lambda: (stand(slides), stand(speaker)) == ("projector", "laptop"))
    assert slides.geometry() == projector
    QTest.keyClick(slides, Key.Key_M)
    person.wait_for(lambda: (stand(slides), stand(speaker)) == ("laptop", "projector"))
    assert slides.geometry() == laptop
    QTest.keyClick(speaker, Key.Key_M)
    person.wait_for(lambda: (stand(slides), stand(speaker)) == ("projector", "laptop"))
    assert slides.geometry() == projector
    slides.setScreen(screens["laptop"])  # as Qt does when the projector is unplugged, without another size
    QGuiApplication.instance().screenRemoved.emit(screens["projector"])  # type: ignore[union-attr]
    person.wait_for(lambda: slides.geometry() == laptop)
    assert slides.isFullScreen()
    QTest.keyClick(speaker, Key.Key_Escape)
    assert controller.presentation is None
    assert (person.window.current, controller.player.slide and controller.player.slide.index) == ("playground", 3)
