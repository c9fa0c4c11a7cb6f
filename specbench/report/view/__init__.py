"""What the formats show, as values."""
