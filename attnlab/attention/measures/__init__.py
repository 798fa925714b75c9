"""Measurements of a layer: statistics of its weights, saturation, order and rotation."""
