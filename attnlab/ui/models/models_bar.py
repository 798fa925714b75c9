"""The bar above: the model, the head that is looked at, whether it is true to the model, and what to do with it."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from attnlab.base.number_text import trim_exponent
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.icons import icon
from attnlab.ui.base.theme import font, px
from attnlab.ui.base.themed import FollowsTheme, palette_of, set_role
from attnlab.ui.models.model_values import LayerMaps
from attnlab.ui.widgets.elided_label import ElidedLabel
from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.segments import Segments

Group = tuple[str, Sequence[tuple[str, object]]]
"""The title of some models, and the name and value of each."""
DIAGRAM = Choice(True, "Model", "The blocks of the model, with shapes and parameters")
OPEN_TIP = "The layer with its true weights and hidden states, to step through and to edit"


@guarded
class ModelsBar(FollowsTheme, QFrame):
    """Emits what is asked for; the list of models is asked for when it opens."""

    menu_requested = Signal()
    folder_requested = Signal()
    panel_toggled = Signal(bool)
    open_requested = Signal()
    export_requested = Signal()
    drawn_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("ground", "top")
        self.panel, self.model, self.folder = QToolButton(), QPushButton("Models"), QPushButton("Open folder…")
        self.panel.setText("Input")
        self.panel.setCheckable(True)
        self.panel.setChecked(True)
        self.panel.setAccessibleName("Model and input")
        self.panel.setToolTip("Show or hide the input and what is switched off")
        self.model.setToolTip("Open another model")
        self.folder.setToolTip("Open a folder with a config.json, its weights and its tokenizer")
        self.place, self.badge = QLabel(), ElidedLabel(separator=" · ")
        self.place.setProperty("role", "title")
        self.pages = Segments("Show")
        self.pages.set_choices([Choice(False, "Maps", "All heads, what each does, and the answer"), DIAGRAM])
        self.pages.set_value(False)
        self.pages.chosen.connect(self.drawn_chosen)
        self.open, self.export = QPushButton("Open in Playground"), QPushButton("Export")
        self.open.setProperty("primary", "true")
        self.open.setToolTip(OPEN_TIP)
        self.export.setToolTip("Export this layer’s maps as a figure or a table, or the diagram (Ctrl+E)")
        self.panel.toggled.connect(self.panel_toggled)
        self.model.clicked.connect(self.menu_requested)
        self.folder.clicked.connect(self.folder_requested)
        self.open.clicked.connect(self.open_requested)
        self.export.clicked.connect(self.export_requested)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        row = QHBoxLayout(self)
        row.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        row.setContentsMargins(16, 8, 16, 8)
        row.setSpacing(8)
        for widget in (self.panel, self.model, self.folder, self.place):
            row.addWidget(widget)
        row.addWidget(self.badge, 1)
        row.addWidget(self.pages)
        row.addWidget(self.open)
        row.addWidget(self.export)
        self.panel.hide()
        for button in (self.open, self.export):
            button.setEnabled(False)

    def restyle(self) -> None:
        """Set icons and sizes."""
        self.model.setIcon(QIcon(icon("cube", palette_of(self), px(16))))
        self.model.setIconSize(QSize(px(16), px(16)))
        self.place.setFont(font("title"))
        self._fit()

    def show_menu(self, groups: Sequence[Group], take: Callable[[Any], object]) -> None:
        """Open a menu with groups of entries, which call ``take`` with their values; "" is no title of a group."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for title, entries in groups:
            if entries and not menu.isEmpty():
                menu.addSeparator()
            if entries and title:
                menu.addAction(title).setEnabled(False)  # the title of a section is not drawn with a style sheet
            for text, value in entries:
                menu.addAction(text.replace("&", "&&"), partial(take, value))
        menu.popup(self.model.mapToGlobal(QPoint(0, self.model.height())))

    def show_model(self, name: str) -> None:
        """Show the name of the open model."""
        self.model.setText(f"{name}  ▾")
        self.model.setAccessibleName(f"Model: {name}")

    def show_place(self, place: str, layer: LayerMaps, changed: bool) -> None:
        """Show the head, and how far the playground's computation is from the model's."""
        self.place.setText(place)
        if layer.difference is None:
            text, brief, role = "cannot be opened in the playground", "", "muted"
        elif layer.is_true:
            same = "true to the model" if not changed else "as in the model with your changes"
            brief, role = "✓ true" if not changed else "✓ as changed", "good"
            text = f"✓ {same} · largest difference {write_difference(layer.difference)}"
        else:
            difference = write_difference(layer.difference)
            text, brief, role = f"differs from the model by up to {difference}", f"off by {difference}", "error"
        compared = "The weights that the playground computes from this layer, beside the model’s own"
        if layer.overview.facts.fixed:
            compared = "The layer’s output, computed from what the capture keeps, beside the model’s own"
        set_role(self.badge, role)
        self.badge.brief = brief
        self.badge.setText(text)
        self.badge.setToolTip(layer.why if layer.difference is None else compared)
        self.open.setEnabled(layer.is_close and not layer.why)
        self.open.setToolTip(layer.why or OPEN_TIP)
        self.export.setEnabled(True)

    def offer_panel(self, offered: bool) -> None:
        """Show or hide the button that hides the panel."""
        self.panel.setVisible(offered)
        self._fit()

    def _fit(self) -> None:
        """Leave out the button for folders, then the badge's text shortens by itself."""
        self.folder.setVisible(self.width() >= px(820))
        self.place.setVisible(self.width() >= px(520))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()


def write_difference(number: float) -> str:
    """Return a difference with one digit, 2e−7 if it is small."""
    if number == 0:
        return "0"
    return trim_exponent(f"{number:.0e}").replace("-", "−") if number < 1e-3 else f"{number:.2g}"
