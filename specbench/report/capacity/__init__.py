"""What a search for capacity found, as text, as JSON and as a page. Nothing is computed here."""
