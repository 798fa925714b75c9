"""The model's continuation of a prompt: greedy, or drawn at a temperature from the most likely tokens."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.widgets.fields.form_style import PANEL
from attnlab.ui.widgets.fields.option_field import Field, whole_field
from attnlab.ui.widgets.fields.option_fields import OptionFields
from attnlab.ui.widgets.fields.undo_fields import TextField

LENGTH = 160
"""The most tokens that are written."""


@guarded
class TextPanel(FollowsTheme, QWidget):
    """Shows a text and requests one: ``text_wanted``."""

    text_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.temperature, self.top_k, self.seed = 0.8, 0, 0
        self.prompt, self.again, self.text = TextField(), QPushButton("Again"), QLabel()
        self.prompt.setAccessibleName("Prompt")
        self.prompt.setToolTip("The model continues this text")
        self.again.setToolTip("Generate again with other random numbers")
        self.text.setAccessibleName("Text that the model writes")
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setWordWrap(True)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self.settings = OptionFields(style=PANEL)
        heading = QLabel("Generated text")
        heading.setProperty("role", "section")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(heading)
        row = QHBoxLayout()
        row.addWidget(self.prompt, 1)
        row.addWidget(self.again)
        column.addLayout(row)
        column.addWidget(self.text)
        column.addWidget(self.settings)
        self.prompt.textEdited.connect(self._on_prompt_edited)
        self.again.clicked.connect(self._on_again)
        self.settings.field_changed.connect(self._on_changed)
        self._show_fields()

    def restyle(self) -> None:
        """Set the sizes."""
        self.text.setMinimumHeight(px(40))

    def heat(self) -> tuple[float, int, int]:
        """Return temperature, top-k and seed."""
        return self.temperature, self.top_k, self.seed

    def show_text(self, text: str) -> None:
        """Show a generated text."""
        self.text.setText(text)

    def _show_fields(self) -> None:
        about = "0 takes the most likely token each time; higher values draw more randomly"
        self.settings.set_fields(
            [
                Field("temperature", "temperature", about, "number", self.temperature, 0.8, 0.0, 10.0),
                whole_field("top_k", "top-k", "Draws from this many most likely tokens; 0: from all", 0, 0, 1000),
            ]
        )

    @Slot(str)
    def _on_prompt_edited(self, _text: str) -> None:
        self.text_wanted.emit()

    @Slot()
    def _on_again(self) -> None:
        self.seed += 1
        self.text_wanted.emit()

    @Slot(str, object)
    def _on_changed(self, name: str, value: object) -> None:
        setattr(self, name, value)
        self.text_wanted.emit()
