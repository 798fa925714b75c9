"""Lists the views of the weights dialog for the gallery: its mapping, its trial, weights that do not fit."""

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.ui.app.main_window import MainWindow
from tools.gallery_window import View, wait_until

if TYPE_CHECKING:
    from attnlab.ui.playground.playground import Playground
    from attnlab.ui.weights.weights_dialog import WeightsDialog

_LAYERS, _HEADS = 12, 4


def _write_weights(folder: Path) -> Path:
    """Write the weights of a torch encoder with fixed numbers."""
    import torch

    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(32, _HEADS, 64, batch_first=True)
    path = folder / "encoder.pt"
    torch.save(torch.nn.TransformerEncoder(layer, _LAYERS).state_dict(), path)
    return path


def _wait_for_trial(dialog: "WeightsDialog", start: Callable[[], object] = lambda: None) -> None:
    tried: list[None] = []
    dialog.previewed.connect(lambda: tried.append(None))
    start()
    wait_until(lambda: bool(tried))


def _open_dialog(side: str, fitting: bool, playground: "Playground", window: MainWindow) -> None:
    """Open the dialog, choose the heads, draw embeddings if the weights should fit, and wait for the trial."""
    from attnlab.ui.weights.weights_dialog import open_weights_dialog

    with tempfile.TemporaryDirectory() as folder:
        dialog = open_weights_dialog(playground, window, [_write_weights(Path(folder))])
        _wait_for_trial(dialog)
        dialog.form.n_heads.choose(_HEADS)
        _wait_for_trial(dialog, lambda: dialog.form.n_heads.activated.emit(dialog.form.n_heads.currentIndex()))
        if fitting:
            _wait_for_trial(dialog, dialog.draw_button.click)
    dialog.show_side(side)


def _open_refused(playground: "Playground", window: MainWindow) -> None:
    """Open the dialog on a file that it refuses."""
    from attnlab.ui.weights.weights_dialog import open_weights_dialog

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "notes.npy"
        path.write_bytes(b"no array")
        dialog = open_weights_dialog(playground, window, [path])
        read: list[None] = []
        dialog.read.connect(lambda: read.append(None))
        wait_until(lambda: bool(read))


def list_views() -> Iterator[View]:
    """Yield the views that are drawn in every size."""
    for side in ("mapping", "preview", "arrays"):
        yield View(f"weights-{side}", "the-cat-sat", open=partial(_open_dialog, side, True))
    yield View("weights-misfit", "the-cat-sat", open=partial(_open_dialog, "preview", False))
    yield View("weights-refused", "the-cat-sat", open=_open_refused)
