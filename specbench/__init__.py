"""Decide whether speculative decoding goes live: measure truly, judge honestly."""

__version__ = "0.1.0"
