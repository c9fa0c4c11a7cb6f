"""How long a stream waits after failures: a dead endpoint refuses at once, and must not flood the records. Pure."""

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 0.25


def pause_s(failures: int) -> float:
    """The pause after so many failures in a row: it doubles up to the longest."""
    return min(FIRST_PAUSE_S * (1 << min(failures - 1, 8)), LONGEST_PAUSE_S)
