"""The short texts of a report: the words of its table, the headline, what to do next."""
