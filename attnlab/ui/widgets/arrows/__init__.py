"""Vectors as arrows in a plane."""
