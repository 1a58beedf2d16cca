"""Gradient descent: ensembles of recall transformers trained on a table, and the least dimension that suffices."""
