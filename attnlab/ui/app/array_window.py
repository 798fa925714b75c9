"""The window that shows an array: its maps, a pill each for layer and head, and the number under the pointer."""

from PySide6.QtCore import QPoint, Qt, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLabel, QMenu, QVBoxLayout, QWidget

from attnlab.document.settings import Settings
from attnlab.figures.array_maps import ArrayMaps, Floats
from attnlab.figures.map_data import MapData
from attnlab.figures.panels.array_sheets import average
from attnlab.figures.scales import find_scale
from attnlab.ui.app.array_bar import ArrayBar
from attnlab.ui.app.array_tools import ArrayTools
from attnlab.ui.base.announcing import announce
from attnlab.ui.base.cells import install_interfaces
from attnlab.ui.base.faults import show_faults
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import apply_theme, plain_tip, px
from attnlab.ui.base.themed import set_role
from attnlab.ui.widgets.fields.pill import Choice, Pill
from attnlab.ui.widgets.maps.map_sheet import Lattice, MapSheet

Which = int | str
"""One layer or head, "all" or "mean"."""
SIZE = (880, 680)


@guarded
class ArrayWindow(QWidget):
    """Shows the maps of an array; arrow keys and pills choose layer and head, a click enlarges one map or shows all.

    ``maps`` are those that it was given, ``settings`` those of the program.
    """

    def __init__(self, maps: ArrayMaps, settings: Settings) -> None:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        apply_theme(app, settings.theme, settings.type_size)  # before labels exist: they would keep the system's font
        super().__init__()
        show_faults()
        install_interfaces()
        self.maps, self.settings = maps, settings
        n_layers, n_heads = maps.values.shape[:2]
        self._layers, self._heads = _choices(n_layers), _choices(n_heads)
        self.layer: Which = 0
        self.head: Which = "all" if n_heads > 1 else 0
        self._before: tuple[Which, Which] | None = None
        self.sheet = MapSheet()
        self.layer_pill, self.head_pill = _pill("Layer", self._layers), _pill("Head", self._heads)
        self.tools = ArrayTools(self)
        self._said: tuple[str, bool] = "", False
        self._build()
        self.sheet.map_clicked.connect(self._on_map_clicked)
        self.sheet.cell_pointed.connect(self._on_cell_pointed)
        self.sheet.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.sheet.customContextMenuRequested.connect(self._on_menu_wanted)
        self.layer_pill.chosen.connect(self._on_layer_chosen)
        self.head_pill.chosen.connect(self._on_head_chosen)
        QShortcut(QKeySequence("Ctrl+W"), self, self.close)
        app.styleHints().colorSchemeChanged.connect(self._on_scheme_changed)
        room = self.screen().availableGeometry().size() * 0.9
        self.resize(min(px(SIZE[0]), room.width()), min(px(SIZE[1]), room.height()))
        self.setMinimumSize(320, 280)
        self.choose(self.layer, self.head)
        self.sheet.setFocus()

    def _build(self) -> None:
        shape = str(list(self.maps.shape))
        self.setWindowTitle(f"Maps {shape} — attnlab")
        remark = "probabilities" if self.maps.kind == "probability" else "signed numbers"
        for pill, choices in ((self.layer_pill, self._layers), (self.head_pill, self._heads)):
            pill.setVisible(len(choices) > 1)
        self.bar = ArrayBar(shape, remark, (self.layer_pill, self.head_pill), self.tools.actions)
        self.readout = QLabel()
        self.readout.setTextFormat(Qt.TextFormat.PlainText)
        self.readout.setMinimumWidth(1)  # a long token is cut off and does not widen the window
        bottom, foot = _frame("bottom")
        foot.addWidget(self.readout, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.bar)
        column.addWidget(self.sheet, 1)
        column.addWidget(bottom)

    def apply_theme(self) -> None:
        """Apply the theme and the size of type of the settings."""
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        apply_theme(app, self.settings.theme, self.settings.type_size)

    def say(self, sentence: str, *, wrong: bool = False) -> None:
        """Show a sentence below the maps until other maps are chosen; the number under the pointer stands over it."""
        self._said = sentence, wrong
        self._on_cell_pointed(None)
        announce(sentence, self.readout)

    def describe(self) -> str:
        """Return in words which maps are visible: "layer 0, all heads"; "" if there is only one."""
        return self._where(None)

    def choose(self, layer: Which, head: Which) -> None:
        """Show one layer or head, their mean, or all side by side."""
        self.layer, self.head = layer, head
        self.layer_pill.set_value(layer)
        self.head_pill.set_value(head)
        of_layers = _take_index(self.maps.values, 0, layer)
        values = _take_index(of_layers, 1, head)
        n_layers, n_heads, rows, columns = values.shape
        lattice = Lattice(_names("layer", n_layers), _names("head", n_heads)) if min(n_layers, n_heads) > 1 else None
        titles = _names("layer", n_layers) if n_layers > 1 else _names("head", n_heads)
        scale = find_scale(of_layers, self.maps.kind)  # one scale for all heads of a layer
        data = MapData(
            values.reshape(-1, rows, columns),
            self.maps.kind,
            scale,
            None,
            self.maps.query_tokens,
            self.maps.key_tokens,
            titles,
        )
        self.sheet.show_maps(data, lattice)
        self.sheet.setAccessibleName(f"Maps: {n_layers * n_heads} of {rows} by {columns}. {self._where(None)}")
        self.sheet.spoken_title = self._where(None) if n_layers * n_heads == 1 else ""
        self._said = "", False
        self._on_cell_pointed(None)
        self.tools.actions.refresh()

    def _place(self, index: int) -> tuple[Which, Which]:
        """Return the layer and the head of a map on screen."""
        n_heads = self.maps.values.shape[1] if self.head == "all" else 1
        line, place = divmod(index, n_heads)
        return (line if self.layer == "all" else self.layer), (place if self.head == "all" else self.head)

    def _where(self, index: int | None) -> str:
        """Return in words the layer and the head of a map; with None, of all maps."""
        layer, head = (self.layer, self.head) if index is None else self._place(index)
        parts = []
        for name, which, choices in (("layer", layer, self._layers), ("head", head, self._heads)):
            if len(choices) > 1:
                parts.append(
                    f"{name} {which}" if isinstance(which, int) else f"{which} {name}s".replace("mean", "mean of")
                )
        return ", ".join(parts)

    def _hint(self) -> str:
        parts = [self.maps.note, "point at a cell for its exact number"]
        parts += ["← → other heads"] * (len(self._heads) > 1) + ["↑ ↓ other layers"] * (len(self._layers) > 1)
        text = " · ".join(part for part in parts if part)
        return text[:1].upper() + text[1:]

    @Slot(object)
    def _on_cell_pointed(self, cell: tuple[int, int, int] | None) -> None:
        said, wrong = self._said
        if cell is not None:
            where = self._where(cell[0])
            text, role = self.sheet.cell_text(cell) + (f"   {where}" if where else ""), ""
        else:
            text, role = said or self._hint(), "error" if wrong else "" if said else "muted"
        set_role(self.readout, role)
        self.readout.setWordWrap(wrong and cell is None)  # an error is shown whole
        self.readout.setText(text)
        self.readout.setToolTip(plain_tip(said))

    @Slot(QPoint)
    def _on_menu_wanted(self, at: QPoint) -> None:
        menu = self.tools.actions.menu(QMenu(self.sheet), "Copy", "File")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.sheet.mapToGlobal(at))

    @Slot(int)
    def _on_map_clicked(self, index: int) -> None:
        if self._place(index) != (self.layer, self.head):
            before = self.layer, self.head
            self.choose(*self._place(index))
            self._before = before
        elif self._before is not None:
            self.choose(*self._before)
            self._before = None

    @Slot(object)
    def _on_layer_chosen(self, layer: Which) -> None:
        self._before = None
        self.choose(layer, self.head)

    @Slot(object)
    def _on_head_chosen(self, head: Which) -> None:
        self._before = None
        self.choose(self.layer, head)

    @Slot()
    def _on_scheme_changed(self) -> None:
        if self.settings.theme == "system":
            self.apply_theme()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._on_head_chosen(_next(self._heads, self.head, 1 if key == Qt.Key.Key_Right else -1))
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._on_layer_chosen(_next(self._layers, self.layer, 1 if key == Qt.Key.Key_Down else -1))
        elif key == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)


def _choices(count: int) -> tuple[Which, ...]:
    return ("all", *range(count), "mean") if count > 1 else (0,)


def _next(choices: tuple[Which, ...], current: Which, step: int) -> Which:
    return choices[(choices.index(current) + step) % len(choices)]


def _names(name: str, count: int) -> tuple[str, ...]:
    return tuple(f"{name} {i}" for i in range(count))


def _take_index(values: Floats, axis: int, which: Which) -> Floats:
    """Return one index of an axis, the mean over it, or all of it; the axis is kept."""
    if which == "mean":
        return average(values, axis)
    return values.take([which], axis) if isinstance(which, int) else values


def _pill(label: str, choices: tuple[Which, ...]) -> Pill:
    pill = Pill(label)
    pill.set_choices([Choice(choice, str(choice)) for choice in choices])
    return pill


def _frame(ground: str) -> tuple[QFrame, QHBoxLayout]:
    frame = QFrame()
    frame.setProperty("ground", ground)
    row = QHBoxLayout(frame)
    row.setContentsMargins(16, 8, 16, 8)
    row.setSpacing(8)
    return frame, row
