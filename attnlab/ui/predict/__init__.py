"""Predict, then reveal: questions about cells that are blank, exercises made of them, and worked solutions."""
