"""The facts of a run in its folder, line by line, and what a resumed run adds to them."""
