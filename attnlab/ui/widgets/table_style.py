"""The program's style for tables of texts and numbers."""

from PySide6.QtWidgets import QTableWidget

from attnlab.figures.palette import mix
from attnlab.ui.base.theme import font, px, set_sheet
from attnlab.ui.base.themed import palette_of

TEXT_MARGIN = 3
"""The margin in pixels that Qt adds beside the text of a cell, but not beside a title."""


def dress_table(table: QTableWidget) -> None:
    """Set the fonts, the colours and the height of the rows."""
    p = palette_of(table)
    table.setFont(font("text"))
    header = table.horizontalHeader()
    for titles in (header, header.viewport()):  # a style sheet gives the latter a font of its own
        titles.setFont(font("caption_strong"))
    table.verticalHeader().setDefaultSectionSize(px(30))
    set_sheet(
        table,
        f"""QTableView {{ background: {p.surface}; color: {p.ink}; border: 2px solid transparent; outline: 0;
            border-radius: 6px; }}
        QTableView:focus {{ border-color: {p.accent}; }}
        QTableView::item {{ padding: 0 {px(8)}px; border: 0; border-bottom: 1px solid {p.hairline}; }}
        QTableView::item:hover {{ background: {p.control}; }}
        QTableView::item:selected {{ background: {mix(p.surface, p.accent, 0.18)}; color: {p.ink}; }}
        QTableView QLineEdit {{ padding: 0 {px(6)}px; border-radius: 4px; }}
        QHeaderView {{ background: {p.surface}; border: 0; }}
        QHeaderView::up-arrow, QHeaderView::down-arrow {{ image: none; width: 0; }}
        QHeaderView::section {{ background: {p.surface}; border: 0; border-bottom: 1px solid {p.hatch};
            padding: {px(4)}px {px(8) + TEXT_MARGIN}px; }}
        QHeaderView::section:hover {{ background: {p.control}; }}""",
    )
