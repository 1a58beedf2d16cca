"""What the mathematics promises: attribute codes, lower bounds and the sizes of the constructions."""
