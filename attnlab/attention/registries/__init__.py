"""What a layer can be made of: scores, masks, normalisers, positions, norms and features, one entry each."""
