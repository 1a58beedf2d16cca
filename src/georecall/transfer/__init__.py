"""New facts for a trained transformer, with everything but its subject embeddings frozen."""
