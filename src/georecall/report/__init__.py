"""Results as figures and tables for people to read."""
