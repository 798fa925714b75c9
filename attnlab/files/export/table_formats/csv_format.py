"""Tables as CSV."""

from typing import TYPE_CHECKING

from attnlab.files.export.table_format import TableFormat

if TYPE_CHECKING:
    from attnlab.files.export.stage_tables import Table


def _encode(t: "Table") -> bytes:
    from attnlab.files.export.stage_tables import as_csv

    return as_csv(t).encode("utf-8", "replace")


CSV = TableFormat(".csv", "Table (CSV)", _encode, order=10)
