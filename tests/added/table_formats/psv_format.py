"""A throw-away format of tables: rows of numbers between bars."""

from typing import TYPE_CHECKING

from attnlab.files.export.table_format import TableFormat

if TYPE_CHECKING:
    from attnlab.files.export.stage_tables import Table


def _encode(t: "Table") -> bytes:
    rows = t.maps().reshape(-1, t.values.shape[-1])
    return "\n".join("|".join(f"{value:.9g}" for value in row) for row in rows).encode()


PSV = TableFormat(".psv", "Table with bars (PSV)", _encode, order=1000)
