"""A switch: a labelled pill with a track that is accent coloured when on."""

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QCheckBox, QSizePolicy, QWidget

from attnlab.figures.palette import mix
from attnlab.figures.subscripts import draw_text, text_width
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import draw_focus_ring, font, mix_disabled, px
from attnlab.ui.base.themed import palette_of


@guarded
class Switch(QCheckBox):
    """A check box that looks like a switch: ``clicked`` is emitted for the user's changes only."""

    def __init__(self, label: str, parent: QWidget | None = None) -> None:
        super().__init__(label.replace("&", "&&"), parent)
        self._label = label
        self.setAccessibleName(label)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def set_label(self, label: str) -> None:
        """Show another label."""
        if label != self._label:
            self._label = label
            self.setText(label.replace("&", "&&"))
            self.updateGeometry()
            self.update()

    def _track(self) -> QRectF:
        width, height = px(28), px(16)
        return QRectF(self.width() - px(10) - width, (self.height() - height) / 2, width, height)

    def sizeHint(self) -> QSize:
        label = text_width(self._label, font("strong"))
        return QSize(px(10) + round(label) + px(8) + px(28) + px(10), px(32))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, pos: QPoint) -> bool:
        return self.rect().contains(pos)

    def paintEvent(self, event: QPaintEvent) -> None:
        p, live = palette_of(self), self.isEnabled()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(mix(p.control, p.ink, 0.06) if live and self.underMouse() else p.control))
        painter.drawRoundedRect(QRectF(self.rect()), px(8), px(8))
        on = QColor(p.accent if live else mix(p.accent, p.control, 0.6))
        track = self._track()
        painter.setBrush(on if self.isChecked() else QColor(mix(p.muted, p.control, 0.25 if live else 0.6)))
        painter.drawRoundedRect(track, track.height() / 2, track.height() / 2)
        thumb = track.height() - 4
        left = track.right() - thumb - 2 if self.isChecked() else track.left() + 2
        painter.setBrush(QColor("#FFFFFF" if live else p.surface))
        painter.drawEllipse(QRectF(left, track.top() + 2, thumb, thumb))
        painter.setPen(QColor(p.ink if live else mix_disabled(p)))
        draw_text(painter, px(10), self.height() / 2, self._label, font("strong"))
        if self.hasFocus():
            draw_focus_ring(painter, QRectF(self.rect()), p, px(8))
        painter.end()
