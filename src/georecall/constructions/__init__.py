"""The weights, written down from a table, and what is proved of them."""
