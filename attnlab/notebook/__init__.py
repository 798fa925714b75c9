"""Figures and HTML for scripts and notebooks."""
