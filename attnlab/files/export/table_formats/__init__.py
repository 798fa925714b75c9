"""The formats of tables, one module for each with a ``TableFormat``; they are found by themselves."""

from attnlab.base.discovery import find_declared
from attnlab.files.export.table_format import TableFormat

TABLES = {each.ending: each for each in find_declared(__name__, TableFormat)}
"""The formats by ending, in the order of lists; loading them loads neither torch nor NumPy."""
