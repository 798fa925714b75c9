"""The bar above: what is open, undo and redo, and every switch of the layer as a pill. Turns choices into edits."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QToolButton, QWidget

from attnlab.attention import edits
from attnlab.attention.normalizers import NORMALIZERS, Normalizer
from attnlab.attention.positions import POSITIONS, Position
from attnlab.attention.scores import SCORES, Score
from attnlab.compute.engine import DTYPES
from attnlab.errors import ExperimentError
from attnlab.figures.palette import LIGHT, Palette
from attnlab.ui.icons import icon
from attnlab.ui.theme import font, plain_tip
from attnlab.ui.widgets.flow_layout import FlowLayout
from attnlab.ui.widgets.numbers import parse_number
from attnlab.ui.widgets.pill import Choice, Pill
from attnlab.ui.widgets.switch import Switch

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.document.document import Document, View

SCALES = (
    Choice("sqrt_d_k", "1/√d_k", "Divided by the root of one head's columns (Vaswani et al. 2017)"),
    Choice("none", "none", "Scores as they are"),
    Choice("sqrt_d_model", "1/√d_model", "Divided by the root of the embeddings' columns: a common mistake"),
)
REGISTRIES = (
    ("score", "Score", SCORES, "Score function"),
    ("normalizer", "Weights", NORMALIZERS, "From scores to weights"),
    ("positions", "Positions", POSITIONS, "Positions added to the embeddings"),
)
_ABOUT = {
    "float32": "What networks train in",
    "float64": "To check by: errors in the 16th digit",
    "bfloat16": "Half the memory, 3 digits",
    "float16": "Half the memory, 4 digits, overflows at 65504",
}


class TopBar(QFrame):
    """Shows and edits the document's configuration, device and dtype; announces what is not an edit."""

    head_chosen = Signal(object)
    gallery_requested = Signal()
    history_requested = Signal()
    export_requested = Signal()

    def __init__(self, document: "Document", devices: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._palette = LIGHT
        self._shown_state: tuple[object, ...] = ()
        self.setProperty("ground", "top")
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 8, 16, 8)
        row.setSpacing(8)
        self.title_button = QPushButton()
        self.title_button.setToolTip("Open a worked example")
        self.title_button.setObjectName("title")
        self.title_button.clicked.connect(self.gallery_requested)
        row.addWidget(self.title_button)
        self.undo_button = self._tool("undo", "Undo", document.undo)
        self.redo_button = self._tool("redo", "Redo", document.redo)
        self.history_button = self._tool("history", "History", self.history_requested)
        for button in (self.undo_button, self.redo_button, self.history_button):
            row.addWidget(button)
        self._switches = FlowLayout()
        row.addLayout(self._switches, 1)
        self.causal = Switch("Causal")
        self.causal.setToolTip("Causal mask: no query sees the keys after it")
        self.causal.clicked.connect(self._on_causal)
        self._switches.addWidget(self.causal)
        self.scale = Pill("Scale")
        self.scale.set_choices(SCALES)
        self.scale.set_entry("divide by …", _divisor, lambda scale: f"÷ {scale:g}")
        self.scale.chosen.connect(self._on_scale)
        self._switches.addWidget(self.scale)
        self.heads = Pill("Heads")
        self.heads.set_entry("number of heads …", self._head_count)
        self.heads.chosen.connect(self._on_heads)
        self._switches.addWidget(self.heads)
        self.shown = Pill("Show")
        self.shown.chosen.connect(self.head_chosen)
        self._switches.addWidget(self.shown)
        self.pills: dict[str, Pill] = {}
        for name, title, registry, about in REGISTRIES:
            self._switches.addWidget(self._make_registry_pill(name, title, registry, about))
        self.device = Pill("", name="Device and number format")
        self.device.setToolTip("Where it is computed, and in which number format")
        self.device.set_choices([Choice((d, t), f"{_device_title(d)} {t}", _ABOUT[t]) for d in devices for t in DTYPES])
        self.device.chosen.connect(self._on_device)
        row.addWidget(self.device)
        self.export_button = QPushButton("Export")
        self.export_button.setToolTip("Save what is shown as a picture or a table (Ctrl+E)")
        self.export_button.clicked.connect(self.export_requested)
        row.addWidget(self.export_button)
        document.scene_changed.connect(self._refresh)
        document.history_changed.connect(self._refresh)
        document.view_changed.connect(self._on_view_changed)
        self._refresh()

    def _tool(self, name: str, title: str, target: object) -> QToolButton:
        button = QToolButton()
        button.setObjectName(name)
        button.setAccessibleName(title)
        button.setToolTip(title)
        button.clicked.connect(target)
        return button

    def _make_registry_pill(
        self, name: str, title: str, registry: Mapping[str, Score | Normalizer | Position], about: str
    ) -> Pill:
        """A switch of one registry; one that offers no choice is not shown."""
        pill = Pill(title, self)  # without a parent, showing it would open a window
        pill.setToolTip(about)
        pill.set_choices([Choice(e.name, e.title, e.about) for e in registry.values()])
        pill.setProperty("field", name)
        pill.chosen.connect(self._on_registry)
        pill.setVisible(len(registry) > 1)
        self.pills[name] = pill
        return pill

    def set_palette(self, palette: Palette) -> None:
        """Paint in other colours from now on."""
        self._palette = palette
        self.causal.set_palette(palette)
        for pill in (self.scale, self.heads, self.shown, self.device, *self.pills.values()):
            pill.set_palette(palette)
        for name in ("undo", "redo", "history"):
            button: QToolButton = getattr(self, f"{name}_button")
            button.setIcon(icon(name, palette))
        self.title_button.setFont(font("title"))

    @Slot()
    def _refresh(self) -> None:
        scene, e = self._document.scene, self._document.experiment
        name = self._document.path.stem if self._document.path is not None else scene.title
        mark = " •" if self._document.modified else ""
        title = f"{name if len(name) <= 24 else name[:23] + '…'}{mark}  ▾"
        if title != self.title_button.text():
            self.title_button.setText(title)
        self.title_button.setAccessibleName(f"Open a preset; now {name}{', changed' if mark else ''}")
        history = self._document.history
        for button, verb, label in (
            (self.undo_button, "Undo", history.undo_label), (self.redo_button, "Redo", history.redo_label),
        ):  # fmt: skip
            button.setEnabled(label is not None)
            button.setToolTip(plain_tip(f"{verb} “{label}”") if label else f"Nothing to {verb.lower()}")
        shown = (e.config, e.d_k, e.d_v, scene.device, scene.dtype)
        if shown != self._shown_state:  # a dragged number changes none of it
            self._shown_state = shown
            self.causal.setChecked(e.config.causal)
            self._refresh_pills(e)
            self.device.set_value((scene.device, scene.dtype))
            self._on_view_changed(self._document.view)

    def _refresh_pills(self, e: "Experiment") -> None:
        self.scale.set_value(e.config.scale)
        self.heads.set_choices([Choice(n, str(n), f"d_k = {e.d_k * e.n_heads // n}") for n in edits.fitting_heads(e)])
        self.heads.set_value(e.n_heads)
        for name, pill in self.pills.items():
            pill.set_value(getattr(e.config, name))
        choices = [Choice("all", "all heads", "Small multiples"), Choice("mean", "mean", "Their average")]
        choices += [Choice(i, f"head {i}", "") for i in range(e.n_heads)]
        self.shown.set_choices(choices)
        self.shown.setVisible(e.n_heads > 1)

    @Slot(object)
    def _on_view_changed(self, view: "View") -> None:
        self.shown.set_value(view.head)

    @Slot(bool)
    def _on_causal(self, on: bool) -> None:
        self._document.edit(f"Causal {'on' if on else 'off'}", lambda e: edits.configured(e, causal=on))

    @Slot(object)
    def _on_scale(self, scale: object) -> None:
        self._configure(f"Scale {_scale_title(scale)}", "scale", scale)

    def _configure(self, label: str, field: str, value: object) -> bool:
        """Change one field of the configuration; choosing what is there already is no step."""
        if getattr(self._document.experiment.config, field) == value:
            return False
        return self._document.edit(label, lambda e: edits.configured(e, **{field: value}))

    def _head_count(self, text: str) -> int:
        """Return a typed head count.

        Raises:
            ExperimentError: not a count, or one that does not divide; the sentence names those that do.
        """
        count, e = _whole(text), self._document.experiment
        fitting = edits.fitting_heads(e)
        if e.config.n_kv_heads is None and count >= 1 and count not in fitting:
            raise ExperimentError(_misfit(count, e, fitting))
        edits.configured(e, n_heads=count)
        return count

    @Slot(object)
    def _on_heads(self, count: object) -> None:
        if self._configure(f"Heads {count}", "n_heads", count):
            self.head_chosen.emit("all" if self._document.experiment.n_heads > 1 else 0)

    @Slot(object)
    def _on_registry(self, value: object) -> None:
        sender = self.sender()
        if isinstance(sender, Pill):
            field = str(sender.property("field"))
            self._configure(f"{field.capitalize()} {value}", field, value)

    @Slot(object)
    def _on_device(self, choice: tuple[str, str]) -> None:
        device, dtype = choice
        label = f"{_device_title(device)} {dtype}"
        if choice == (self._document.scene.device, self._document.scene.dtype):
            return
        self._document.edit_scene(label, lambda scene: replace(scene, device=device, dtype=dtype))


def _device_title(device: str) -> str:
    return {"cpu": "CPU", "mps": "Metal"}.get(device, device.upper().replace("CUDA", "GPU"))


def _scale_title(scale: object) -> str:
    return next((choice.title for choice in SCALES if choice.value == scale), f"÷ {scale}")


def _divisor(text: str) -> float:
    """Return a typed number to divide by; raises AttnlabError for what is not a positive number."""
    number = parse_number(text)
    if number <= 0:
        raise ExperimentError(f"Scores cannot be divided by {f'{number:g}'.replace('-', '−')}; type a number above 0.")
    return number


def _misfit(count: int, e: "Experiment", fitting: Sequence[int]) -> str:
    """Return why so many heads do not divide the columns, and which counts do."""
    wide = {name: edits.shape(e, name)[1] for name in ("W_q", "W_v")}
    name = next((name for name, columns in wide.items() if columns % count), "W_q")
    counts = " or ".join([*([", ".join(map(str, fitting[:-1]))] if fitting[:-1] else []), str(fitting[-1])])
    head = "head" if fitting[-1] == 1 else "heads"
    return f"{count} heads do not fit: the {wide[name]} columns of {name} divide among {counts} {head}."


def _whole(text: str) -> int:
    if not text.strip().isdecimal():
        raise ExperimentError(f"“{text.strip()}” is not a number of heads; type a whole number, 1 or more.")
    return int(text)
