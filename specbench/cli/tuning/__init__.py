"""The commands that propose a setting and test it."""
