"""Addresses and proxies: nothing here knows of requests or answers."""
