"""The open document: the current scene, its history, the selection, and the settings."""
