"""How the fields of a form look and behave: in a pill's popup, in a panel, and in a dialog."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FormStyle:
    """The style of a column of fields; sizes in pixels at 100 %.

    In a wide form, controls fill the width beside the titles; otherwise they have one width, are right-aligned, and
    have a reset button before them. In a live form, numbers are taken as they are typed; otherwise with Enter or on
    leaving.
    """

    is_wide: bool
    is_live: bool
    title_role: str = ""
    title_width: int = 0
    margins: tuple[int, int, int, int] = (0, 0, 0, 0)
    gaps: tuple[int, int] = (4, 2)


PILL = FormStyle(is_wide=False, is_live=False, margins=(8, 4, 8, 4))
PANEL = FormStyle(is_wide=True, is_live=True, title_role="muted", title_width=104, gaps=(6, 4))
DIALOG = FormStyle(is_wide=True, is_live=True, margins=(0, 0, 12, 0), gaps=(12, 8))
