"""A tune as one page. Nothing is picked here."""
