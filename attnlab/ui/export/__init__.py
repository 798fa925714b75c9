"""Dialogs that export figures, tables and films, with an exact preview."""
