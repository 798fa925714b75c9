"""Tables as NumPy arrays."""

import io
from typing import TYPE_CHECKING

from attnlab.files.export.table_format import TableFormat

if TYPE_CHECKING:
    from attnlab.files.export.stage_tables import Table


def _encode(t: "Table") -> bytes:
    """Return the values as an .npy file; a masked score is -∞."""
    import numpy as np

    buffer = io.BytesIO()
    np.save(buffer, t.values, allow_pickle=False)
    return buffer.getvalue()


NPY = TableFormat(".npy", "NumPy array (NPY)", _encode, order=20)
