"""Diagrams of whole models: a scene of simple shapes, what is laid out in it, and its one painter."""
