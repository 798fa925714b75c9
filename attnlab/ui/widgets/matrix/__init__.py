"""The editable table of a matrix."""
