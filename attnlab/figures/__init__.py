"""Pictures: one painter routine for the screen and for files."""
