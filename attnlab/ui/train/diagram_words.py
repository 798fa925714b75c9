"""The words beside presented diagrams: for one model or two, the block of the step, in the largest type that fits."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from attnlab.figures.diagram.diagram_walk import Words
from attnlab.figures.subscripts import keep_products, write_html
from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font

SHRINK, LEAST = 0.95, 0.4
"""While the words are too tall for the screen, their type shrinks by a factor, down to a part of its usual size."""
SIZES = {"model": 1.0, "title": 1.7, "about": 1.35, "formula": 1.35, "sizes": 1.0}
"""The size of each label, as a multiple of that of its role."""


class WordSection:
    """The labels of one model: ``model`` names it, and ``title``, ``about``, ``formula``, ``sizes`` tell its block."""

    def __init__(self, column: QVBoxLayout, place: str) -> None:
        self.model, self.title, self.about, self.formula, self.sizes = (QLabel() for _ in range(5))
        self.title.setAccessibleName(f"Block{place}")
        for label in self.labels():
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.RichText if label is self.formula else Qt.TextFormat.PlainText)
            column.addWidget(label)
        for label in (self.model, self.about, self.sizes):
            label.setProperty("role", "muted")

    def labels(self) -> tuple[QLabel, ...]:
        """Return the labels from the top to the bottom."""
        return self.model, self.title, self.about, self.formula, self.sizes

    def show_words(self, words: Words | None) -> None:
        """Show what is said of a block, or nothing."""
        said = words or Words("", "", "")
        show_text(self.title, said.title)
        texts = (
            said.model,
            said.title,
            said.about,
            write_html(keep_products(said.formula)) if said.formula else "",
            "\n".join(said.sizes),
        )
        for label, text in zip(self.labels(), texts, strict=True):
            label.setText(text)
            label.setVisible(bool(text))


@guarded
class DiagramWords(QWidget):
    """Shows the words of a step, and at its foot which keys there are."""

    def __init__(self, count: int) -> None:
        """Create the words for a number of models."""
        super().__init__()
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.sections: list[WordSection] = []
        self.column.addStretch(1)
        for at in range(count):
            if at:
                self.column.addStretch(1)
            self.sections.append(WordSection(self.column, f" of model {at + 1}" if count > 1 else ""))
        self.column.addStretch(2)
        self.keys = QLabel()
        self.keys.setProperty("role", "muted")
        self.keys.setWordWrap(True)
        self.column.addWidget(self.keys)

    def show_words(self, words: Sequence[Words], keys: str) -> None:
        """Show what is said of one model or of each, and the keys."""
        for at, section in enumerate(self.sections):
            section.show_words(words[at] if at < len(words) else None)
        self.keys.setText(keys)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _labels(self) -> Iterator[QLabel]:
        for section in self.sections:
            yield from section.labels()
        yield self.keys

    def _fit(self) -> None:
        """Choose the largest type, in proportion to the screen, in which no word is cut."""
        usual = zoom = max(self.height() / 560, 0.8)
        self._set_type(zoom)
        while zoom > LEAST * usual and not self._words_fit():
            zoom *= SHRINK
            self._set_type(zoom)

    def _set_type(self, zoom: float) -> None:
        for section in self.sections:
            for name, larger in SIZES.items():
                role = "title" if name == "title" else "text"
                getattr(section, name).setFont(font(role, zoom * larger))
        self.keys.setFont(font("caption", zoom))

    def _words_fit(self) -> bool:
        shown = [label for label in self._labels() if not label.isHidden()]
        tall = sum(label.heightForWidth(self.width()) + self.column.spacing() for label in shown)
        longest = max(label.minimumSizeHint().width() for label in shown)
        return longest <= self.width() and tall <= self.height()
