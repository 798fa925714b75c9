"""The bar above: the open session, undo and redo, the switches of the layer, the device, and export.

If the switches do not fit in one line with the rest, they have the line below, beside the rail, and never a third one.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QMargins, QSize, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QToolButton, QWidget

from attnlab.compute.engine import DTYPES
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.icons import icon
from attnlab.ui.base.theme import BAR_MARGIN, HAIRLINE, bar_height, font, plain_tip, px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.playground.layer_switches import LayerSwitches
from attnlab.ui.playground.title_button import TitleButton
from attnlab.ui.widgets.fields.pill import Choice, Pill
from attnlab.ui.widgets.layouts.bar_layout import BarLayout

if TYPE_CHECKING:
    from attnlab.document.document import Document

_ABOUT = {
    "float32": "The usual format for training",
    "float64": "For checking: errors in the 16th digit",
    "bfloat16": "Half the memory, 3 digits",
    "float16": "Half the memory, 4 digits, overflows above 65504",
}


@guarded
class TopBar(FollowsTheme, QFrame):
    """Shows and edits the document's configuration, device and dtype; emits signals for everything else."""

    head_chosen = Signal(object)
    gallery_requested = Signal()
    history_requested = Signal()
    export_requested = Signal()

    def __init__(self, document: "Document", devices: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._shown_device = ("", "")
        self.setProperty("ground", "top")
        self._parts = parts = BarLayout(self, QMargins(16, BAR_MARGIN, 16, BAR_MARGIN))
        left, right = QHBoxLayout(), QHBoxLayout()
        for row in (left, right):
            row.setSpacing(8)
        self.title_button = TitleButton()
        self.title_button.setToolTip("Open a worked example")
        self.title_button.setObjectName("title")
        self.title_button.clicked.connect(self.gallery_requested)
        left.addWidget(self.title_button)
        self.undo_button = self._tool("undo", "Undo", document.undo)
        self.redo_button = self._tool("redo", "Redo", document.redo)
        self.history_button = self._tool("history", "History", self.history_requested)
        for button in (self.undo_button, self.redo_button, self.history_button):
            left.addWidget(button)
        self.switches = LayerSwitches(document)
        self.switches.head_chosen.connect(self.head_chosen)
        self.device = Pill("", name="Device and number format")
        self.device.setToolTip("The device and the number format of the computation")
        self.device.set_choices([Choice((d, t), f"{_device_title(d)} {t}", _ABOUT[t]) for d in devices for t in DTYPES])
        self.device.chosen.connect(self._on_device)
        right.addWidget(self.device)
        self.export_button = QPushButton("Export")
        self.export_button.setToolTip("Save the current view as a picture or a table (Ctrl+E)")
        self.export_button.clicked.connect(self.export_requested)
        right.addWidget(self.export_button)
        for part in (left, self.switches, right):  # in this order, which is that of the Tab key
            parts.add_part(part)
        document.scene_changed.connect(self._refresh)
        document.history_changed.connect(self._refresh)
        self._refresh()

    def _tool(self, name: str, title: str, target: object) -> QToolButton:
        button = QToolButton()
        button.setObjectName(name)
        button.setAccessibleName(title)
        button.setToolTip(title)
        button.clicked.connect(target)
        return button

    def restyle(self) -> None:
        """Set the icons, and the font of the title."""
        for name in ("undo", "redo", "history"):
            button: QToolButton = getattr(self, f"{name}_button")
            button.setIcon(icon(name, palette_of(self), px(18)))
            button.setIconSize(QSize(px(18), px(18)))
        self.title_button.setFont(font("title"))

    def stand_beside(self, rail: int) -> None:
        """Let a second line begin beside the rail, which has this width and begins below the first line."""
        self._parts.begin_below(bar_height() - HAIRLINE, rail)

    @Slot()
    def _refresh(self) -> None:
        scene = self._document.scene
        name = self._document.path.stem if self._document.path is not None else scene.title
        self.title_button.show_title(name, changed=self._document.modified)
        history = self._document.history
        for button, verb, label in (
            (self.undo_button, "Undo", history.undo_label),
            (self.redo_button, "Redo", history.redo_label),
        ):
            button.setEnabled(label is not None)
            if (tip := plain_tip(f"{verb} “{label}”") if label else f"Nothing to {verb.lower()}") != button.toolTip():
                button.setToolTip(tip)
        if (scene.device, scene.dtype) != self._shown_device:
            self._shown_device = (scene.device, scene.dtype)
            self.device.set_value(self._shown_device)

    @Slot(object)
    def _on_device(self, choice: tuple[str, str]) -> None:
        device, dtype = choice
        label = f"{_device_title(device)} {dtype}"
        if choice == (self._document.scene.device, self._document.scene.dtype):
            return
        self._document.edit_scene(label, lambda scene: replace(scene, device=device, dtype=dtype))


def _device_title(device: str) -> str:
    return {"cpu": "CPU", "mps": "Metal"}.get(device, device.upper().replace("CUDA", "GPU"))
