"""Lenses: other ways of looking at the experiment that is open, in the place of the canvas."""
