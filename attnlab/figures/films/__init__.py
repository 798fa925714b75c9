"""Films: their frames and their files."""
