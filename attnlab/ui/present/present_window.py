"""The audience's window: one slide on the whole screen, controlled by keys, a clicker or mouse; numbers can be edited.

``PresentWindow(playground, player, parent, reduced_motion=False)`` follows the player and the numbers of the
playground. ``present()`` opens it on the second screen if there is one, else on the parent's; ``left`` is emitted once
when it closes, by Esc, F5 or otherwise; the owner then calls ``deleteLater()``. The player keeps its place.
``set_theme(palette)`` sets its colours; the default is the program's theme.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QCloseEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QResizeEvent,
    QScreen,
    QShortcut,
    QWheelEvent,
)
from PySide6.QtWidgets import QLabel, QWidget

from attnlab.base.text_marks import read_aloud
from attnlab.figures.palette import PALETTES, Palette
from attnlab.figures.slides.slide_painter import LARGER
from attnlab.figures.slides.slide_text import make_face
from attnlab.lessons.duration import plan_seconds
from attnlab.ui.base.announcing import announce
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import set_sheet
from attnlab.ui.base.themed import application_palette, dress, palette_of
from attnlab.ui.present.presenter import Presenter
from attnlab.ui.present.screens import fill, find_other, gather, place_notes
from attnlab.ui.present.slide_parts import SlideParts
from attnlab.ui.present.slide_view import SlideView
from attnlab.ui.present.speaker_window import SpeakerWindow
from attnlab.ui.present.spoken_slide import speak_change
from attnlab.ui.present.spotlight import Spotlight
from attnlab.ui.present.stopwatch import Stopwatch
from attnlab.ui.present.votes import read_vote

if TYPE_CHECKING:
    from attnlab.figures.slides.slide_content import SlideContent
    from attnlab.lessons.slides import Slide
    from attnlab.ui.lessons.player import LessonPlayer
    from attnlab.ui.playground.playground import Playground

CURSOR_MS = 2500
"""The time without movement after which the pointer is hidden."""
ZOOMS = (0.9, 1.0, *reversed(LARGER))
Key = Qt.Key


@guarded
class PresentWindow(QWidget):
    """Presents the lesson of a player; it changes only the player's place and, by live edits, the document."""

    left = Signal()

    def __init__(
        self,
        playground: "Playground",
        player: "LessonPlayer",
        parent: QWidget | None = None,
        *,
        reduced_motion: bool = False,
    ) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setWindowTitle("Presentation — attnlab")
        self.setObjectName("presentation")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(320, 200)
        self._playground, self._player = playground, player
        self._zoom = ZOOMS.index(1.0)
        self._typed = ""
        self._over = False
        self.presenter = Presenter(playground, player, self)
        self.view = SlideView(self)
        self.view.reduced_motion = reduced_motion
        self.setMouseTracking(True)
        self.parts = SlideParts(playground, self.presenter, self.view, self)
        self.spotlight = Spotlight(self)
        self.speaker: SpeakerWindow | None = None
        self.watch = Stopwatch()
        self._began_s, self._first, self._entered = 0.0, 0, -1
        self._begun = playground.document.scene
        self._note = QLabel(self)
        self._note.setTextFormat(Qt.TextFormat.PlainText)
        self._note.hide()
        self._cursor = QTimer(self)
        self._cursor.setSingleShot(True)
        self._cursor.setInterval(CURSOR_MS)
        self._cursor.timeout.connect(self._on_cursor_rested)
        self._keys = self._make_keys()
        self._connect()
        self.set_theme(application_palette())

    def _connect(self) -> None:
        self.presenter.content_changed.connect(self._on_content_changed)
        self.presenter.prepared.connect(self.view.prepare)
        self.presenter.rested.connect(self._on_rested)
        self.presenter.slide_entered.connect(self._on_slide_entered)
        self.view.laid_out.connect(self._on_laid_out)
        self.parts.table.clicker_pressed.connect(self._on_key)
        app = QGuiApplication.instance()
        assert isinstance(app, QGuiApplication)
        app.screenRemoved.connect(self._on_screen_removed)
        document = self._playground.document
        for keys, slot in (
            (QKeySequence.StandardKey.Undo, self._undo),
            (QKeySequence.StandardKey.Redo, document.redo),
        ):
            for sequence in QKeySequence.keyBindings(keys):
                QShortcut(sequence, self, slot)

    @Slot()
    def _undo(self) -> None:
        """Undo an edit of this presentation, but not the state that a slide brought along.

        An edit from before the presentation could remove the stage that a slide of a tour shows.
        """
        document = self._playground.document
        history = document.history
        before = history.entries[max(history.index - 1, 0)]
        if document.scene is self._begun or before.opening != history.current.opening:
            self._say("There is nothing to undo on this slide.")
        else:
            document.undo()

    def _make_keys(self) -> dict[int, Callable[[], object]]:
        p = self.presenter
        found: dict[int, Callable[[], object]] = {}
        for keys, action in (
            ((Key.Key_Right, Key.Key_Down, Key.Key_Space, Key.Key_PageDown), p.go_next),
            ((Key.Key_Left, Key.Key_Up, Key.Key_Backspace, Key.Key_PageUp), p.go_back),
            ((Key.Key_Home,), self._player.go_first),
            ((Key.Key_End,), self._player.go_last),
            ((Key.Key_B, Key.Key_Period), lambda: self.cover("black")),
            ((Key.Key_W,), lambda: self.cover("white")),
            ((Key.Key_S,), self.spotlight.toggle),
            ((Key.Key_N,), self.toggle_speaker),
            ((Key.Key_M,), lambda: self._say(self.swap_screens())),
            ((Key.Key_T,), self.change_theme),
            ((Key.Key_D,), lambda: self._say(p.deepen())),
            ((Key.Key_E,), self.parts.toggle_table),
            ((Key.Key_R,), p.numbers.restore),
            ((Key.Key_L,), lambda: self._say(p.toggle_labels())),
            ((Key.Key_O,), lambda: self._say(p.operate_lens())),
            ((Key.Key_H, Key.Key_Question), self.parts.toggle_help),
            ((Key.Key_Plus, Key.Key_Equal), lambda: self.step_zoom(1)),
            ((Key.Key_Minus,), lambda: self.step_zoom(-1)),
            ((Key.Key_Escape,), self.escape),
            ((Key.Key_F5,), self.close),
        ):
            found |= dict.fromkeys(map(int, keys), action)
        return found

    # Start and end

    def present(self, screen: QScreen | None = None, size: QSize | None = None) -> None:
        """Show the player's slide on a whole screen, or with a size in a window of that size."""
        if size is not None:
            self.resize(size)
        else:
            self.setGeometry((screen or self._find_best_screen()).geometry())
        self.view.setGeometry(self.rect())
        self.watch.start()
        self._entered = -1
        self.presenter.begin()
        self._first = self.presenter.slide.index if self.presenter.slide is not None else 0
        if size is not None:
            self.show()
        else:
            self.showFullScreen()
        self.activateWindow()
        self.setFocus()
        self._cursor.start()

    def _find_best_screen(self) -> QScreen:
        """Return a screen other than the parent's, if there is one; else the parent's."""
        parent = self.parentWidget()
        own = parent.screen() if parent is not None else QGuiApplication.primaryScreen()
        return find_other(own) or own

    def swap_screens(self) -> str:
        """Move to the next screen; the speaker window takes the free one. Return why there is none, "" if there is."""
        screens, own = QGuiApplication.screens(), self.screen()
        if len(screens) < 2:
            return "There is only one screen."
        fill(self, screens[(screens.index(own) + 1) % len(screens)])
        if self.speaker is not None and self.speaker.screen() is not own:
            self.speaker.setGeometry(own.availableGeometry())
        return ""

    @Slot()
    def _on_screen_removed(self) -> None:
        QTimer.singleShot(0, self, lambda: gather(self, self.speaker))  # once Qt has moved the windows

    # Appearance

    def set_theme(self, palette: Palette) -> None:
        """Show the presentation and the speaker window in a palette of their own."""
        dress(self, palette)
        set_sheet(
            self._note, f"color: {palette.on_accent}; background: {palette.accent}; border-radius: 6px; padding: 8px"
        )
        self.parts.follow_theme()

    def change_theme(self) -> None:
        """Change to the next theme: light, dark, and both in high contrast."""
        themes = list(PALETTES.values())
        self.set_theme(themes[(themes.index(palette_of(self)) + 1) % len(themes)])

    def step_zoom(self, step: int) -> None:
        """Enlarge or reduce the font size, or with 0 reset it."""
        self._zoom = ZOOMS.index(1.0) if step == 0 else min(max(self._zoom + step, 0), len(ZOOMS) - 1)
        self.view.set_zoom(ZOOMS[self._zoom])

    @property
    def unit(self) -> float:
        """A hundredth of the slide's height, in pixels."""
        return max(self.height(), 1) / 100

    # Keys

    def take_key(self, event: QKeyEvent) -> bool:
        """Handle a key; False if it has no meaning here."""
        self._settle()
        if self.view.cover:
            self.cover("")
            return True
        if self.view.walk(event):
            return True
        vote = None if self._typed else read_vote(event)
        if vote is not None and self.presenter.vote(*vote):
            return True
        text = event.text()
        if text.isdigit() and text.isascii() and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._type(text)
            return True
        if self._typed and event.key() in (Key.Key_Return, Key.Key_Enter):
            self._go_typed()
            return True
        was_typing, self._typed = bool(self._typed), ""
        self._note.hide()
        action = self._keys.get(event.key())
        if action is None or (was_typing and event.key() == Key.Key_Escape):
            return was_typing
        action()
        return True

    def _settle(self) -> None:
        """End all motion, and remove the sentence about the last key."""
        self.view.finish()
        if not self._typed:
            self._note.hide()

    def _type(self, digit: str) -> None:
        self._typed = (self._typed + digit)[-3:]
        self._show_note(f"Step {self._typed}: Enter")

    def _say(self, sentence: str) -> None:
        """Show until the next key why a key did nothing; nothing for ""."""
        if sentence:
            self._show_note(sentence)
            announce(sentence, self.view)

    def _show_note(self, text: str) -> None:
        self._note.setText(text)
        self._note.setFont(make_face(2.6 * self.unit))
        self._note.adjustSize()
        self._note.move(round(self.width() * 0.95) - self._note.width(), round(4 * self.unit))
        self._note.show()
        self._note.raise_()

    def _go_typed(self) -> None:
        step, self._typed = int(self._typed), ""
        self._note.hide()
        self._player.go(step - 1)

    def escape(self) -> None:
        """Close the part above the slide, else end the presentation."""
        if self.parts.help.isVisible():
            self.parts.help.hide()
        elif self.presenter.table:
            self.parts.toggle_table()
        elif self.parts.typing:
            self.setFocus()
        elif self.spotlight.isVisible():
            self.spotlight.hide()
        else:
            self.close()

    def cover(self, colour: str) -> None:
        """Cover the slide and everything above it with "black" or "white"; "" uncovers it."""
        self.view.set_cover(colour)
        if colour:
            self.view.raise_()
        else:
            self.view.lower()

    # The speaker window

    def toggle_speaker(self) -> None:
        """Open or close the speaker window."""
        if self.speaker is not None:
            self.speaker.close()
            return
        self.speaker = SpeakerWindow(self, self.watch)
        self.speaker.key_pressed.connect(self._on_key)
        self.speaker.steps.jumped.connect(self._player.go)
        self.speaker.closed.connect(self._on_speaker_closed)
        self.speaker.ticked.connect(self._on_speaker_ticked)
        place_notes(self.speaker, self)
        self._tell_speaker()
        self.speaker.show()

    def _tell_speaker(self) -> None:
        slide = self.presenter.slide
        if self.speaker is not None and slide is not None:
            following = self.presenter.make_next_content()
            notes = self.presenter.numbers.fill(slide.step.notes, slide, markdown=True)
            lens = following is not None and following.whole
            speaker, plan = self.speaker, plan_seconds(slide.lesson)
            speaker.set_class_height(self.view.height())
            speaker.show_slides(self.presenter.content, following, self.presenter.lens_ahead if lens else "")
            speaker.notes.show_notes(notes)
            speaker.head.show_step(slide.lesson.title, f"step {slide.index + 1} of {slide.count}", self._began_s)
            speaker.plan.show_plan(plan, slide.index, self._began_s, self._first)
            titles = [self._fill_title(each) for each in self._player.slides]
            speaker.steps.show_steps(titles, plan, slide.index)
            self._on_speaker_ticked()

    def _fill_title(self, slide: "Slide") -> str:
        """Return the title of a step as the audience reads it; its numbers only if they are known."""
        return read_aloud(self.presenter.numbers.fill(slide.step.title, slide))

    @Slot()
    def _on_slide_entered(self) -> None:
        """Note when a step began; walked at another depth, it is still the same step."""
        slide = self.presenter.slide
        if slide is not None and slide.index != self._entered:
            self._entered, self._began_s = slide.index, self.watch.elapsed_ms / 1000

    @Slot()
    def _on_speaker_ticked(self) -> None:
        """Show the lens, the table and the fields for answers in the speaker window; the table stays for the next."""
        parts = self.parts.lens, self.parts.table, self.parts.answers
        if self.speaker is not None:
            lens, table, answers = (None if part is None or part.isHidden() else part.grab() for part in parts)
            self.speaker.now.set_insets(lens, table, answers)
            self.speaker.next.set_insets(None, table, None)

    @Slot()
    def _on_speaker_closed(self) -> None:
        if self.speaker is not None:
            self.speaker.deleteLater()
            self.speaker = None

    # Drawing

    @Slot(object, bool)
    def _on_content_changed(self, content: "SlideContent", soft: bool) -> None:
        before = self.view.content
        self.view.show_content(content, soft)
        announce(speak_change(before, content), self.view, "slide")
        if self.isVisible() and not self.view.cover:
            self.view.repaint()  # at once: within a frame of the key, before all other work

    @Slot()
    def _on_laid_out(self) -> None:
        """Keep the spotlight above a part that has just been created, and below a black screen."""
        if self.spotlight.isVisible() and not self.view.cover:
            self.spotlight.cover_all()

    @Slot()
    def _on_rested(self) -> None:
        self._tell_speaker()

    @Slot()
    def _on_cursor_rested(self) -> None:
        self.view.setCursor(Qt.CursorShape.BlankCursor)

    @Slot(QKeyEvent)
    def _on_key(self, event: QKeyEvent) -> None:
        self.take_key(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.take_key(event):
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus()
        self._settle()
        if self.view.cover:
            self.cover("")
        elif self.parts.help.isVisible():
            self.parts.help.hide()
        elif self.presenter.table:
            self.parts.table.table.setFocus()  # the click missed a number: no reason to go to the next frame
        elif event.button() == Qt.MouseButton.LeftButton:
            self.presenter.go_next()
        elif event.button() == Qt.MouseButton.RightButton:
            self.presenter.go_back()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.view.setCursor(Qt.CursorShape.ArrowCursor)
        self._cursor.start()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.spotlight.isVisible():
            self.spotlight.resize_by(event.angleDelta().y() / 120)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.view.setGeometry(self.rect())

    def closeEvent(self, event: QCloseEvent) -> None:
        self._cursor.stop()
        self.presenter.stop()
        self.view.finish()
        if self.speaker is not None:
            self.speaker.close()
        self.parts.forget()
        super().closeEvent(event)
        if not self._over:
            self._over = True
            self.left.emit()
