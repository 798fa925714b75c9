"""Tables as safetensors."""

from typing import TYPE_CHECKING

from attnlab.files.export.table_format import TableFormat

if TYPE_CHECKING:
    from attnlab.files.export.stage_tables import Table


def _encode(t: "Table") -> bytes:
    """Return the values as a safetensors file, under the stage's name."""
    import numpy as np
    from safetensors.numpy import save

    return bytes(save({t.stage: np.ascontiguousarray(t.values)}))


SAFETENSORS = TableFormat(".safetensors", "safetensors", _encode, order=40)
