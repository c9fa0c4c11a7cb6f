"""What a generated text looks like from outside. Pure."""

LOOP_TAILS = (160, 640)
"""Characters at a text's end that are looked at: a short loop shows in the first, a looping sentence in the second."""

LOOP_REPEATS = 4


def looping(text: str) -> bool:
    """Whether a text ends in a loop: its last 160 or 640 characters are one piece at least four times over.

    A tail repeats a piece of p characters where it equals itself shifted by p. Degenerate answers make speculation look
    better than it is, as a loop is easily drafted.
    """
    for length in LOOP_TAILS:
        tail = text[-length:]
        if len(tail) == length and any(tail[piece:] == tail[:-piece] for piece in range(1, length // LOOP_REPEATS + 1)):
            return True
    return False
