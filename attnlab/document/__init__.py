"""What is open: the current scene, undo, selection, settings."""
