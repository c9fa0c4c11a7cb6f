"""Answers of both arms while a run lasts and after its last block: kept, asked for, compared."""
