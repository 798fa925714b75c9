"""Session files and the unsaved work of earlier windows."""
