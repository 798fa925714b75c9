"""What a table format is: its ending, its title, and the function that writes it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnlab.files.export.stage_tables import Table


@dataclass(frozen=True, slots=True)
class TableFormat:
    """A format of a stage's numbers, listed by its ``title`` at the place ``order``.

    ``encode`` returns the bytes of a file; it imports what it needs, because formats are listed before torch is loaded.
    """

    ending: str
    title: str
    encode: "Callable[[Table], bytes]"
    order: int
