"""Results as figures that need nothing else to be looked at."""
