"""What scripts and notebooks see of an experiment: figures and HTML."""
