"""Time since the start, which can be paused."""

from PySide6.QtCore import QElapsedTimer


class Stopwatch:
    """Runs from the moment it is made."""

    def __init__(self) -> None:
        self._timer = QElapsedTimer()
        self._kept_ms = 0
        self.start()

    @property
    def running(self) -> bool:
        """Whether it is running."""
        return self._timer.isValid()

    @property
    def elapsed_ms(self) -> int:
        """Milliseconds so far."""
        return self._kept_ms + (self._timer.elapsed() if self.running else 0)

    def start(self) -> None:
        """Start or continue."""
        self._timer.start()

    def pause(self) -> None:
        """Halt."""
        self._kept_ms = self.elapsed_ms
        self._timer.invalidate()

    def reset(self) -> None:
        """Reset to 0; a paused stopwatch stays paused."""
        self._kept_ms = 0
        if self.running:
            self._timer.restart()


def write_clock(seconds: float) -> str:
    """Return a time as 9:58, from an hour on as 1:09:58."""
    whole = max(int(seconds), 0)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
