"""The sentences of rules that look into a cell: its bins, the order of its blocks, their course."""
