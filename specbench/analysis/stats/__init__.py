"""Statistics that know no metric: numbers in, estimates out."""
