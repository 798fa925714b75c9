"""Reads and writes files: sessions, weights, tables and generated code."""
