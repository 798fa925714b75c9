"""A throw-away lens: a new lens is one module such as this."""

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLabel, QWidget

from attnlab.ui.playground.lenses.lens import Lens, Runner

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View


class TokenCountLens(Lens):
    """Shows how many tokens there are."""

    name = "token_count"
    title = "Token count"
    about = "How many tokens there are"
    tab_order = 1000

    def __init__(self, run: Runner, parent: QWidget | None = None) -> None:
        super().__init__(run, parent)
        self.told = QLabel(self)

    def show_trace(self, trace: "Trace", view: "View") -> None:
        """Show the number of queries."""
        self.told.setText(f"{trace.experiment.T_q} tokens")
