"""Weights from files: reads arrays, matches them to W_q, W_k and W_v, and puts them into an experiment."""
