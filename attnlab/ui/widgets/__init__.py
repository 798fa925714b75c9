"""Widgets that know arrays and colours, not attention."""
