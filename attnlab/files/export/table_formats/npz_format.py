"""Tables as NumPy archives."""

import io
from typing import TYPE_CHECKING

from attnlab.files.export.table_format import TableFormat

if TYPE_CHECKING:
    from attnlab.files.export.stage_tables import Table


def _encode(t: "Table") -> bytes:
    """Return the values as an .npz file, under the stage's name."""
    import numpy as np

    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **{t.stage: t.values})
    return buffer.getvalue()


NPZ = TableFormat(".npz", "NumPy archive (NPZ)", _encode, order=30)
