"""An answer as it grows: tokens to text, and where it ends (end token, stop string, limit).

No sampling and no wire format here.
"""

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from specbench.engine.models.vocabulary import EOS, Vocabulary

Finish = Literal["stop", "length"]


@dataclass(frozen=True, slots=True)
class TextDelta:
    """What one engine step added: tokens that count, their text as far as it is certain, and how the answer ended."""

    tokens: tuple[int, ...]
    text: str
    finish: Finish | None
    stop_reason: str | None


@dataclass(frozen=True, slots=True)
class OutputLimits:
    """Where an answer ends; `stop` strings are not part of it."""

    max_tokens: int
    stop: tuple[str, ...] = ()
    ignore_eos: bool = False


class OutputText:
    """Grows by the tokens of one engine step after another."""

    def __init__(self, vocabulary: Vocabulary, limits: OutputLimits) -> None:
        self._spellings = vocabulary.spellings
        self._limits = limits
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self.count = 0

    def grow(self, tokens: Sequence[int]) -> TextDelta:
        """Adds the tokens up to where the answer ends; what comes after that was computed in vain and does not count.

        Text that may yet turn out to be the beginning of a stop string, or half a character, is held back until it is certain.
        """
        kept: list[int] = []
        finish: Finish | None = None
        text = self._held
        for token in tokens:
            kept.append(token)
            text += self._decoder.decode(self._spellings[token])
            stopped = self._stopped(text)
            if stopped is not None:
                self._account(kept, "")
                return TextDelta(tuple(kept), text[: text.index(stopped)], "stop", stopped)
            if token == EOS and not self._limits.ignore_eos:
                finish = "stop"
            elif self.count + len(kept) >= self._limits.max_tokens:
                finish = "length"
            if finish is not None:
                break
        held = 0 if finish else self._uncertain(text)
        if finish:
            text += self._decoder.decode(b"", True)
        self._account(kept, text[len(text) - held :])
        return TextDelta(tuple(kept), text[: len(text) - held], finish, None)

    def _account(self, kept: list[int], held: str) -> None:
        self.count += len(kept)
        self._held = held

    def _stopped(self, text: str) -> str | None:
        found = [(text.index(stop), stop) for stop in self._limits.stop if stop in text]
        return min(found)[1] if found else None

    def _uncertain(self, text: str) -> int:
        longest = 0
        for stop in self._limits.stop:
            for size in range(min(len(stop) - 1, len(text)), longest, -1):
                if text.endswith(stop[:size]):
                    longest = size
                    break
        return longest
