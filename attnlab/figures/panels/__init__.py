"""Figures of stages: layout, colours, type and files."""
