"""What a training announces to a screen reader: started, paused, continued, ended with its loss."""

import math

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from attnlab.base.spoken_text import speak_number
from attnlab.ui.base.announcing import announce
from attnlab.ui.train.train_session import TrainSession


class TrainingAnnouncements(QObject):
    """Follows a session; the sentence of a failure is announced where it is shown."""

    def __init__(self, session: TrainSession, widget: QWidget) -> None:
        super().__init__(widget)
        self._session, self._widget, self._state = session, widget, session.state
        session.started.connect(self._on_started)
        session.progressed.connect(self._on_progressed)
        session.ended.connect(self._on_ended)

    def _where(self) -> str:
        """Return the step and the loss in words."""
        run = self._session.run
        if run is None or not len(run.losses):
            return ""
        loss = float(run.losses[-1])
        return f"at step {run.step:,}" + ("" if math.isnan(loss) else f", loss {speak_number(loss)}")

    def _say(self, text: str) -> None:
        announce(" ".join(text.split()), self._widget, "training")

    @Slot()
    def _on_started(self) -> None:
        self._state = "running"
        run = self._session.run
        self._say(f"Training continues {self._where()}" if run is not None and run.step else "Training started")

    @Slot()
    def _on_progressed(self) -> None:
        before, self._state = self._state, self._session.state
        if (before, self._state) == ("running", "paused"):
            self._say(f"Training paused {self._where()}")
        elif (before, self._state) == ("paused", "running"):
            self._say(f"Training continues {self._where()}")

    @Slot(str)
    def _on_ended(self, _sentence: str) -> None:
        self._state = self._session.state
        self._say(f"Training ended {self._where()}")
