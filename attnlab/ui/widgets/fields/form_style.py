"""How the fields of a form look and behave: in a pill's popup, in a panel, and in a dialog."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FormStyle:
    """The style of a column of fields; sizes in pixels at 100 %.

    Controls that ``fill`` take the width beside the titles and are left-aligned; others have one width, are
    right-aligned, and have a reset button. Numbers that ``are_live`` are taken as they are typed, others with Enter or
    on leaving.
    """

    fill: bool
    are_live: bool
    title_role: str = ""
    title_width: int = 0
    margins: tuple[int, int, int, int] = (0, 0, 0, 0)
    gaps: tuple[int, int] = (4, 2)


PILL = FormStyle(fill=False, are_live=False, margins=(8, 4, 4, 4))
PANEL = FormStyle(fill=True, are_live=True, title_role="muted", title_width=104, gaps=(6, 4))
DIALOG = FormStyle(fill=True, are_live=True, margins=(0, 0, 12, 0), gaps=(12, 8))
