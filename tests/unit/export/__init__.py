"""Claims about exported files."""
