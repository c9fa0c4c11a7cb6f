"""The records of a cell as arrays."""
