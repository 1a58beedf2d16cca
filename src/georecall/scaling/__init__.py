"""How sizes that training needs grow with the facts."""
