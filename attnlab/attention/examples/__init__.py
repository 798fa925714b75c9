"""The worked examples and the table of presets."""
