"""A fitting size for dialogs."""

from PySide6.QtWidgets import QDialog

from attnlab.ui.base.theme import px


def fit(dialog: QDialog, least: tuple[int, int], wished: tuple[int, int]) -> None:
    """Resize a dialog to ``wished`` pixels at the present size of type, but no larger than its parent window."""
    parent = dialog.parentWidget()
    room = parent.window().size() if parent is not None else dialog.screen().availableSize()
    sizes = [
        [min(px(side), most) for side, most in zip(size, (room.width(), room.height()), strict=True)]
        for size in (least, wished)
    ]
    dialog.setMinimumSize(*sizes[0])
    dialog.resize(*sizes[1])
