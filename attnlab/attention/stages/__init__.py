"""The stages of attention: their table, computation and code, explanations of cells, and the walk through them."""
