"""The stages of attention: their table, what each computes, how a cell is explained, and the walk through them."""
