"""Real models: reads their folders, runs them, and hands over each layer's attention."""
