"""What each family of models calls its tensors and settings, and the stacks of layers that it builds from them."""
