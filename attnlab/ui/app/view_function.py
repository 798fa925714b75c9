"""``attnlab.view(x)`` for scripts and notebooks: opens a window on an experiment, a trace or an array."""

import os
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING

from attnlab.base.arguments import explain_calls
from attnlab.base.display import has_display
from attnlab.base.errors import AttnlabError

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication, QWidget

    from attnlab.attention.stages.trace import Trace
    from attnlab.document.scene import Scene
    from attnlab.figures.array_maps import ArrayMaps
    from attnlab.ui.app.open_windows import OpenWindows


@explain_calls
def view(x: object, tokens: object = None) -> "QWidget | None":
    """Open a window on an experiment, a trace or an array.

    ``x`` is an Experiment, a Trace, an array or tensor [T_q, T_k], [h, T_q, T_k] or [layers, h, T_q, T_k], or the tuple
    that Hugging Face models return, one tensor [batch, h, T_q, T_k] a layer, of which batch item 0 is shown. It may
    also be a Capture, or a .npz, .safetensors or .npy file of arrays, such as the window saves. ``tokens`` names the
    rows and columns of an array: one list for both, or a pair (query_tokens, key_tokens).

    If Qt's event loop runs, as in IPython after ``%gui qt``, it returns the window at once; the window stays open even
    without a reference to it. In a plain script it returns None when the window has been closed.

    Raises:
        AttnlabError: x or tokens cannot be shown or read, there is no display, this is not the main thread, or a figure
        was drawn before the first window, so that Qt runs without a screen.
    """
    content = _content(x, tokens)
    _check_place()
    app = _application()
    from attnlab.ui.app.open_windows import OpenWindows, loop_runs

    window = _window(content)
    windows = OpenWindows.of(app)
    key = windows.keep(window)
    _show(window)
    if loop_runs():
        return window
    del window  # so that it is deleted when it is closed, not when this function returns
    _wait(app, windows, key)
    return None


def _content(x: object, tokens: object) -> "Scene | ArrayMaps":
    if "torch" in sys.modules:  # x can only be an experiment if torch is loaded
        from attnlab.attention.experiment import Experiment
        from attnlab.attention.stages.trace import Trace
        from attnlab.document.scene import Scene

        if isinstance(x, Experiment | Trace) and tokens is not None:
            raise AttnlabError(f"tokens is for arrays only; x is {type(x).__name__}, which has tokens of its own.")
        if isinstance(x, Experiment):
            return Scene(x, "Experiment")
        if isinstance(x, Trace):
            return Scene(x.experiment, "Experiment", "", _device_name(x), str(x.dtype).removeprefix("torch."))
    from attnlab.figures.array_maps import take_maps
    from attnlab.pretrained.opened_maps import open_maps

    return take_maps(*open_maps(x, tokens))


def _check_place() -> None:
    """Raise an error where Qt would end the whole process."""
    if threading.current_thread() is not threading.main_thread():
        raise AttnlabError("view was called in a thread; windows need the main thread.")
    if not has_display():
        raise AttnlabError(
            "There is no display to open a window on; “attnlab export SOURCE -o OUT.png” draws a figure without one."
        )


def _device_name(trace: "Trace") -> str:
    """Return the window's name of a trace's device, where a single GPU has no number."""
    from attnlab.compute.engine import devices

    device = trace.device
    names = (str(device), device.type, f"{device.type}:{device.index or 0}")
    return next((name for name in names if name in devices()), "cpu")


def _application() -> "QApplication":
    """Return the application; create it if there is none yet."""
    if sys.platform == "win32":  # WORKAROUND pytorch #166628: torch does not load after Qt there
        import torch  # noqa: F401
    try:
        from PySide6.QtCore import QCoreApplication
        from PySide6.QtWidgets import QApplication

        from attnlab.ui.app.application import make_application
    except ImportError as error:
        if (error.name or "").startswith("attnlab"):
            raise
        raise AttnlabError(f"Qt cannot be loaded ({error}); attnlab doctor names the command that fixes it.") from error
    there = QCoreApplication.instance()
    if there is not None and not isinstance(there, QApplication):
        raise AttnlabError(
            f"This program runs a {type(there).__name__}, which cannot show windows; view needs a QApplication."
        )
    if there is not None and there.platformName() == "offscreen" != os.environ.get("QT_QPA_PLATFORM"):
        raise AttnlabError(
            "A figure was drawn before the first window, so Qt runs without a screen; restart and open a window first, "
            "in a notebook with %gui qt."
        )
    return there or make_application()


def _window(content: "Scene | ArrayMaps") -> "QWidget":
    from attnlab.document.settings import load_settings
    from attnlab.figures.array_maps import ArrayMaps
    from attnlab.ui.app.array_window import ArrayWindow
    from attnlab.ui.app.main_window import MainWindow

    settings, problems = load_settings()
    if isinstance(content, ArrayMaps):
        return ArrayWindow(content, settings)
    window = MainWindow(settings, content)
    for problem in problems:
        window.ready.connect(partial(window.say, problem))
    return window


def _show(window: "QWidget") -> None:
    from attnlab.ui.app.main_window import MainWindow

    window.show()
    window.raise_()
    window.activateWindow()
    if isinstance(window, MainWindow):
        window.load()


def _wait(app: "QApplication", windows: "OpenWindows", key: int) -> None:
    """Run the event loop until one window is gone, whatever else is open."""
    quits = app.quitOnLastWindowClosed()
    app.setQuitOnLastWindowClosed(False)  # its Quit event could arrive while the next window waits
    end = partial(_end, app, key)
    windows.gone.connect(end)
    try:
        app.exec()
    finally:
        windows.gone.disconnect(end)
        app.setQuitOnLastWindowClosed(quits)


def _end(app: "QApplication", key: int, gone: int) -> None:
    if gone == key:
        app.exit(0)
