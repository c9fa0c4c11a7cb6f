"""Bring two arms up, and make sure that they may be compared."""
