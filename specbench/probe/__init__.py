"""One endpoint, quickly."""
