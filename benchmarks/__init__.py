"""Ratios measured in one run; `make bench` runs them all. Nothing here is a test: machines differ."""
