"""Simulated answers of both arms, honest and faulty, through the findings that judge real ones: rows T8 of the table."""
