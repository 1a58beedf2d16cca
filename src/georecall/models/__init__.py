"""Transformers that run: a small one of our own, and stock OPT and Llama."""
