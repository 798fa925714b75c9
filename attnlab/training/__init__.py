"""Training of small models: tasks, models, the training loop and its process, and runs on disk. Uses torch, not Qt."""
