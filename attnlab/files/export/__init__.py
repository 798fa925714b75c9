"""Exports for other programs: tables, matrices as text, scripts and notebooks."""
