"""What leaves and comes back: sessions, tables, generated code."""
