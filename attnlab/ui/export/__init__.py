"""The export dialog: figures and tables of what is on screen, with a preview that is what is written."""
