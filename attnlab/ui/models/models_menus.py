"""The menus of the maps: what can be switched off at a head or a cell."""

from PySide6.QtCore import QObject, QPoint, Qt, Signal, Slot
from PySide6.QtWidgets import QMenu, QWidget

from attnlab.ui.models.change_words import name_arrow
from attnlab.ui.models.model_state import Off
from attnlab.ui.models.models_cards import ModelsCards


class ModelsMenus(QObject):
    """Opens a menu where a map asks for one; switches heads and arrows in the session."""

    all_requested = Signal()
    """All heads are to be exported."""

    def __init__(self, cards: ModelsCards, parent: QObject) -> None:
        super().__init__(parent)
        self._cards, self._session = cards, cards.session
        cards.overview.menu_requested.connect(self._on_head_menu)
        cards.head.menu_requested.connect(self._on_cell_menu)

    @Slot(int, QPoint)
    def _on_head_menu(self, place: int, at: QPoint) -> None:
        layer, head = self._cards.places[place]
        if (found := self._session.overview) is None:
            return
        what = Off(found.part, layer, head)
        off = self._session.state.is_off(what)
        others = [Off(found.part, layer, other) for other in range(found.maps.shape[1]) if other != head]
        menu = self._make_menu(self._cards.overview)
        menu.addAction(f"Switch {what.place} {'on' if off else 'off'}", lambda: self._session.switch((what,), not off))
        menu.addAction(f"Switch all others of layer {layer} off", lambda: self._session.switch(others, True))
        menu.addSeparator()
        menu.addAction("Export all heads as one page…", self.all_requested.emit)
        menu.popup(at)

    @Slot(int, int, QPoint)
    def _on_cell_menu(self, query: int, key: int, at: QPoint) -> None:
        found, view = self._session.overview, self._session.view
        if found is None:
            return
        what = Off(found.part, view.layer, view.head, query, key)
        off = self._session.state.is_off(what)
        arrow = name_arrow(found, query, key)
        menu = self._make_menu(self._cards.head.sheet)
        if self._session.is_masked(query, key) and not off:
            menu.addAction(f"{arrow} is masked").setEnabled(False)
        else:
            menu.addAction(f"Switch {arrow} {'on' if off else 'off'}", lambda: self._session.switch((what,), not off))
        menu.popup(at)

    @staticmethod
    def _make_menu(owner: QWidget) -> QMenu:
        menu = QMenu(owner)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        return menu
