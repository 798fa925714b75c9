"""Drawing maps of numbers with one painter routine, on the screen and into files."""
