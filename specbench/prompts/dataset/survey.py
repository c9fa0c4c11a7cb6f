"""One pass over a dataset: what each row is and how long, in some forty bytes a request; no text is kept.

What is sampled of it is decided afterwards, in `sample.py`, so that neither order nor size of the file matters.
"""

from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from specbench.errors import DataError
from specbench.model.data.datasets import DatasetReading
from specbench.model.scenario import Route
from specbench.prompts.dataset.lines import Broken, Raw, decoded, digest_of, values
from specbench.prompts.dataset.row import Row
from specbench.prompts.dataset.shapes import PLACEHOLDER, label_of, nearest_shape, rows_of
from specbench.prompts.lengths import characters_by_script

FIRST = 1_000  # rows after which a file that is nearly all unusable is refused
USABLE = 100  # one row in so many must be usable
HEAD = 256  # characters at the beginning of a text, to see what many have in common
HALF_SURROGATE = "half of a surrogate pair, which is no character"
NOT_JSON, OTHER_REASONS = "not JSON", "other reasons"
MOST_KEYS, MOST_REASONS, LONGEST_NAMED = 12, 50, 80
_NONE = -1
_NO_CHARACTERS = (0, 0, 0, 0)
_UNKNOWN = float("nan")

Numbers = NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """A dataset as columns, one place a request.

    `digest` (n,) of its content by the seed; `number`, `turn` (n,) where it stands; `characters`, `answer` (n, 4) by script
    class; `before`, `after` (n,) recorded tokens of prompt and answer, −1 where there are none; `label` (n,) places in `labels`,
    −1 without; `at_s` (n,) seconds, NaN without; `head` (n,) of its first characters, 0 where it is shorter; `made_up` (n,).
    """

    path: Path
    bytes: int
    sha256: str
    rows: int
    shapes: dict[str, int]
    skipped: dict[str, int]
    labels: tuple[str, ...]
    digest: Numbers
    number: Numbers
    turn: Numbers
    characters: Numbers
    answer: Numbers
    before: Numbers
    after: Numbers
    label: Numbers
    at_s: Numbers
    head: Numbers
    made_up: Numbers


def survey(path: Path, reading: DatasetReading, seed: int, route: Route = "chat") -> Survey:
    """The file's requests as columns, and its other rows by reason.

    Raises:
        DataError: the file cannot be read, has a broken line and these are not skipped, was changed since its bins were made, or
            hardly a row of it can be used.
    """
    size, sha256 = digest_of(path)
    if reading.sha256 not in (None, sha256):
        raise DataError(
            f"{path}: its sha256 differs from workload.source.sha256, so it was changed; run again: specbench bins {path}"
        )
    columns = _Columns(path, seed, route)
    for number, value in _decoded(path, reading):
        columns.take(number, value, reading)
    columns.check(columns.rows)
    return columns.surveyed(size, sha256)


def rows_at(path: Path, reading: DatasetReading, wanted: set[tuple[int, int]]) -> Iterator[tuple[tuple[int, int], Row]]:
    """The requests that stand at these places (number and turn); other lines are passed over unread."""
    numbers = {number for number, _ in wanted}
    for number, value in values(path):
        if number in numbers:
            _, found = rows_of(decoded(value) if isinstance(value, Raw) else value, reading)
            several = str(number) if len(found) > 1 else None
            for turn, row in enumerate(() if isinstance(found, str) else found):
                if (number, turn) in wanted and not isinstance(row, str):
                    yield (number, turn), row._replace(number=number, session=row.session or several)


def _decoded(path: Path, reading: DatasetReading) -> Iterator[tuple[int, Any]]:
    """The values of a file; a broken line is refused unless such lines are to be counted."""
    begins = True
    for number, raw in values(path):
        value = decoded(raw) if isinstance(raw, Raw) else raw
        if isinstance(value, Broken) and reading.broken == "refuse":
            content = bytes(raw)
            if begins and content.lstrip()[:1] not in (b"{", b"[", b'"'):
                raise DataError(
                    f"{path}: is neither JSON lines nor a JSON array; a table's name ends in .csv or .tsv (docs/data.md)"
                )
            if not _is_utf8(content):
                raise DataError(f"{path}:{number}: is not UTF-8 text; save it as UTF-8")
            if value.truncated and isinstance(raw, bytes) and not raw.endswith(b"\n"):
                raise DataError(f"{path}:{number}: the file ends inside this line; cut it off (head -n {number - 1})")
            raise DataError(f"{path}:{number}: not JSON: {value.why}; mend it, or set workload.source.broken: skip")
        begins = False
        yield number, value


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _one_line(text: str) -> str:
    """What a file says of itself, as it may stand in a message."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())[:LONGEST_NAMED]


class _Columns:
    """Grows by a request at a time."""

    def __init__(self, path: Path, seed: int, route: Route) -> None:
        self.path, self.route, self.rows, self.usable = path, route, 0, 0
        self._key = seed.to_bytes(32, "little", signed=False) if seed < 1 << 256 else b""
        self._shapes: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._keys: Counter[str] = Counter()
        self._labels: dict[str, int] = {}
        self._digest, self._head = array("Q"), array("Q")
        self._number, self._turn = array("L"), array("L")
        self._characters, self._answer = array("I"), array("I")
        self._before, self._after, self._label = array("q"), array("q"), array("l")
        self._at_s, self._made_up = array("d"), array("b")

    def take(self, number: int, value: Any, reading: DatasetReading) -> None:
        """Adds a value of the file."""
        self.rows += 1
        shape, found = ("", NOT_JSON) if isinstance(value, Broken) else rows_of(value, reading)
        if isinstance(found, str):
            self._skip(found)
            if isinstance(value, dict) and self.rows <= FIRST:
                self._keys.update(_one_line(str(key)) for key in value)
        else:
            label = label_of(value, reading)
            used = 0
            for turn, row in enumerate(found):
                fault = row if isinstance(row, str) else self._add(row, number, turn, label)
                if fault is None:
                    used = 1
                else:
                    self._skip(fault)
            self._shapes[shape] += 1
            self.usable += used
        if self.rows == FIRST:
            self.check(FIRST)

    def _skip(self, reason: str) -> None:
        reason = _one_line(reason)
        self._skipped[reason if reason in self._skipped or len(self._skipped) < MOST_REASONS else OTHER_REASONS] += 1

    def check(self, rows: int) -> None:
        """Nothing, where enough of the rows are usable."""
        if self.usable and self.usable * USABLE >= rows:
            return
        if not rows:
            raise DataError(f"{self.path}: it is empty; a row needs prompt, text, messages or conversations")
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in self._skipped.most_common(5))
        keys = [key for key, _ in self._keys.most_common(MOST_KEYS)]
        held = f"; its rows have {', '.join(keys)}" if keys else ""
        shape = nearest_shape(keys)
        near = "" if shape is None else f"; the nearest shape is {shape.label} ({', '.join(sorted(shape.keys[0]))})"
        first = f"of its first {rows:,} rows" if rows == FIRST else f"of its {rows:,} rows"
        few = "no row" if not self.usable else f"fewer than 1 row in {USABLE}"
        raise DataError(
            f"{self.path}: {few} {first} can be used as a prompt ({reasons}){held}{near}; a row needs prompt, text, messages or"
            " conversations (docs/data.md)"
        )

    def _add(self, row: Row, number: int, turn: int, label: str | None) -> str | None:
        """Why the request cannot be used; None where it was added."""
        question, system, messages, fields_kept, before, after, at_s, _, _, made_up, _, _, answered = row
        if question.startswith(PLACEHOLDER):
            raise DataError(
                f"{self.path}:{number}: its prompts are placeholders; assemble the data first, as SPEED-Bench's page says"
            )
        if messages and self.route == "completions":
            return "a conversation needs route: chat"
        try:
            whole = row.whole_text if messages or system else question
            text = whole.encode()
            fields = msgspec.json.encode((messages, fields_kept)) if messages or fields_kept else b""
            answer = answered.encode() if answered and after is None else b""
        except UnicodeEncodeError:
            return HALF_SURROGATE
        own = b"%d %d" % (number, turn) if made_up else b"%b\0%b\0%b" % (text, fields, b"s" if system else b"")
        self._digest.append(int.from_bytes(blake2b(own, digest_size=8, key=self._key).digest(), "little"))
        self._head.append(hash(whole[:HEAD]) & 0xFFFFFFFFFFFFFFFF if len(whole) >= HEAD else 0)
        self._number.append(number)
        self._turn.append(turn)
        tools = fields_kept.get("tools") if fields_kept else None
        self._characters.extend(characters_by_script(text if tools is None else text + msgspec.json.encode(tools)))
        self._answer.extend(characters_by_script(answer) if answer else _NO_CHARACTERS)
        self._before.append(_NONE if before is None else before)
        self._after.append(_NONE if after is None else after)
        self._label.append(_NONE if label is None else self._labels.setdefault(label, len(self._labels)))
        self._at_s.append(_UNKNOWN if at_s is None else at_s)
        self._made_up.append(made_up)
        return None

    def surveyed(self, size: int, sha256: str) -> Survey:
        """The survey of all rows added so far."""
        made_up = np.array(self._made_up, dtype=bool)
        mixed = made_up.any() and not made_up.all()
        # In a log of which some texts were taken out, only what has a text is sent; lengths alone are used where texts are rare.
        lengths_only = made_up.mean() * USABLE > USABLE - 1 if len(made_up) else False
        kept = made_up == lengths_only if mixed else np.ones(len(made_up), dtype=bool)
        if mixed:
            reason = "a text among rows of lengths alone" if lengths_only else "lengths without a text, beside rows that have one"
            self._skipped[reason] += int((~kept).sum())
        return Survey(
            path=self.path,
            bytes=size,
            sha256=sha256,
            rows=self.rows,
            shapes=dict(self._shapes.most_common()),
            skipped=dict(self._skipped.most_common()),
            labels=tuple(self._labels),
            digest=np.array(self._digest, dtype=np.uint64)[kept],
            number=np.array(self._number, dtype=np.int64)[kept],
            turn=np.array(self._turn, dtype=np.int64)[kept],
            characters=np.array(self._characters, dtype=np.uint32).reshape(-1, 4)[kept],
            answer=np.array(self._answer, dtype=np.uint32).reshape(-1, 4)[kept],
            before=np.array(self._before, dtype=np.int64)[kept],
            after=np.array(self._after, dtype=np.int64)[kept],
            label=np.array(self._label, dtype=np.int64)[kept],
            at_s=np.array(self._at_s, dtype=np.float64)[kept],
            head=np.array(self._head, dtype=np.uint64)[kept],
            made_up=made_up[kept],
        )
