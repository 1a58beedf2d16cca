"""Geometric factual recall: tables of facts as transformers, with proofs, measurements and certificates."""
