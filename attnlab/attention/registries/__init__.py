"""Registries of the variants of a layer: scores, masks, normalisers, positions, norms and features."""
