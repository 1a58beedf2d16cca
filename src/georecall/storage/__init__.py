"""Files that exist whole or not at all."""
