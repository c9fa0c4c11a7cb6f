"""An endpoint that knows what it sent, and when."""
