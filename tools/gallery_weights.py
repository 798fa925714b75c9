"""Draws the weights dialog for the gallery: its mapping, its preview, and its message about weights that do not fit."""

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEventLoop
from PySide6.QtWidgets import QWidget

from attnlab.ui.app.main_window import MainWindow

if TYPE_CHECKING:
    from attnlab.ui.playground.playground import Playground
    from attnlab.ui.weights.weights_dialog import WeightsDialog

Prepare = Callable[["Playground", MainWindow], QWidget | None]
_LAYERS, _HEADS = 12, 4


def _write_weights(folder: Path) -> Path:
    """Write the weights of a torch encoder with fixed numbers."""
    import torch

    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(32, _HEADS, 64, batch_first=True)
    path = folder / "encoder.pt"
    torch.save(torch.nn.TransformerEncoder(layer, _LAYERS).state_dict(), path)
    return path


def _wait(dialog: "WeightsDialog", start: Callable[[], object] = lambda: None) -> None:
    loop = QEventLoop()
    dialog.previewed.connect(loop.quit)
    start()
    loop.exec()
    dialog.previewed.disconnect(loop.quit)


def _open_dialog(
    size: tuple[int, int], side: str, fitting: bool, playground: "Playground", window: MainWindow
) -> QWidget | None:
    """Open the dialog, choose the heads, draw embeddings if the weights should fit, and wait for the preview."""
    from attnlab.ui.weights.weights_dialog import open_weights_dialog

    with tempfile.TemporaryDirectory() as folder:
        dialog = open_weights_dialog(playground, window, [_write_weights(Path(folder))])
        assert dialog is not None
        dialog.resize(*size)
        _wait(dialog)
        dialog.form.n_heads.choose(_HEADS)
        _wait(dialog, lambda: dialog.form.n_heads.activated.emit(dialog.form.n_heads.currentIndex()))
        if fitting:
            _wait(dialog, dialog.draw_button.click)
    dialog.show_side(side)
    return dialog


def list_states() -> Iterator[tuple[str, Prepare]]:
    """Yield name and preparation of each picture."""
    large, small = (1000, 680), (560, 420)
    yield "weights-dialog", partial(_open_dialog, large, "preview", True)
    yield "weights-dialog-misfit", partial(_open_dialog, large, "preview", False)
    yield "weights-dialog-arrays", partial(_open_dialog, large, "arrays", True)
    yield "weights-dialog-small", partial(_open_dialog, small, "mapping", True)
    yield "weights-dialog-small-preview", partial(_open_dialog, small, "preview", True)
