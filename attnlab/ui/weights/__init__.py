"""Import of weights: the arrays in a file, which array becomes which weight, and a preview of the result."""
