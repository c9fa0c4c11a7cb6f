"""Addresses, proxies, and serving on an address: nothing here knows what is asked or answered."""
