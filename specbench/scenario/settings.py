"""Picks by load in each engine's own words: one depth, a table by batch size, or one depth and a cap for the router. Pure.

One row an engine in `TABLES` and `WORDS`; words as read in vLLM, SGLang and TensorRT-LLM of autumn 2026 and llama.cpp of August
2026 (docs/tuning.md). What a single depth costs at each load is known to the caller, which passes it in.
"""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from typing import Any

from specbench.model.off_schedule import TABLE
from specbench.model.tuning.tune_values import DEPTH, Setting
from specbench.scenario.launch_commands import PROGRAMS, speculation_words

Rows = tuple[tuple[int, int, int], ...]
FAR = 512  # where the row of 0 above all tested loads ends; beyond it engines go on with 0
ADAPTIVE_FILE = "sglang-adaptive.json"
_EAGLE = ("eagle", "eagle3")
_DECODING = {"draft_model": "DraftTarget", "eagle": "Eagle", "eagle3": "Eagle3", "mtp": "MTP", "ngram": "NGram"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DepthsByLoad:
    """What one method showed: the picked depth at each load, by rising load, and how much worse each depth is than the best.

    `losses`: by depth, then by load, as a fraction; a depth that may not run at a load is missing there. 0 stands for off.
    """

    picks: tuple[tuple[int, int], ...]
    losses: Mapping[int, Mapping[int, float]]
    primary: int
    within: float


def setting_for(engine: str, speculative: Mapping[str, Any], depths: DepthsByLoad) -> Setting:
    """The setting that the picks come to: one depth where that loses at most `within` at every load; else the engine's table;
    else the best depth at the primary load, with a cap for the router. `speculative` is the method's block, its depth aside.
    """
    picked = dict(depths.picks)
    if not any(picked.values()):
        return Setting(engine=engine, kind="off", speculative=None)
    if (depth := _one_for_all(depths)) is not None:
        return _worded(Setting(engine=engine, kind="static", speculative={**speculative, DEPTH: depth}))
    if has_table(engine, speculative):
        rows = rows_of(depths.picks)
        whole = {**speculative, DEPTH: max(tokens for _, _, tokens in rows)}
        return _worded(Setting(engine=engine, kind="table", speculative=whole | {TABLE: [list(row) for row in rows]}, rows=rows))
    depth = picked[depths.primary] or max(picked.values())
    cap = _cap(depth, depths)
    if cap is None:
        return Setting(engine=engine, kind="off", speculative=None)
    return _worded(Setting(engine=engine, kind="capped", speculative={**speculative, DEPTH: depth}, cap=cap))


def capped_table(engine: str, speculative: Mapping[str, Any], cap: int) -> Setting:
    """The table that drafts as the block says up to the cap, and nothing beyond.

    Raises:
        ValueError: the block names no depth.
    """
    depth = speculative.get(DEPTH)
    if not isinstance(depth, int):
        raise ValueError(f"speculative.{DEPTH} must say how deep it drafts")
    table = [row for row in speculative.get(TABLE) or [[1, cap, depth]] if row[0] <= cap]
    below = [(lowest, highest, tokens) for lowest, highest, tokens in table[:-1]] + [(table[-1][0], cap, table[-1][2])]
    rows = (*below, (cap + 1, max(FAR, cap + 1), 0))
    whole = {**speculative, TABLE: [list(row) for row in rows]}
    return _worded(Setting(engine=engine, kind="table", speculative=whole, rows=rows))


def rows_of(picks: Sequence[tuple[int, int]]) -> Rows:
    """Rows of [lowest, highest, tokens] from (streams, depth): a deeper range ends at the highest load where it was picked.

    Above the highest tested load nothing is drafted.
    """
    rows: list[tuple[int, int, int]] = []
    lowest = 1
    for place, (streams, depth) in enumerate(picks):
        following = picks[place + 1] if place + 1 < len(picks) else (None, 0)
        if following[1] == depth and following[0] is not None:
            continue
        highest = streams if following[0] is None or following[1] < depth else following[0] - 1
        rows.append((lowest, highest, depth))
        lowest = highest + 1
    if rows and rows[-1][2] > 0:
        rows.append((lowest, max(FAR, lowest), 0))
    return tuple(rows)


def thresholds_of(rows: Rows) -> tuple[int, ...]:
    """The batch sizes after which the depth changes."""
    return tuple(highest for (_, highest, tokens), (_, _, following) in pairwise(rows) if tokens != following)


def has_table(engine: str, speculative: Mapping[str, Any]) -> bool:
    """Whether this engine takes a table by batch size for this method."""
    method, topk = speculative.get("method", "draft_model"), speculative.get("eagle_topk", 1)
    return engine in TABLES and TABLES[engine](method, topk)


def _one_for_all(depths: DepthsByLoad) -> int | None:
    """The smallest depth above 0 that loses at most `within` at every load; one that was picked everywhere counts as such."""
    loads, picked = [streams for streams, _ in depths.picks], {depth for _, depth in depths.picks}
    if len(picked) == 1:
        return picked.pop()
    good = [
        depth
        for depth, losses in depths.losses.items()
        if depth > 0 and all(losses.get(streams, inf) <= depths.within for streams in loads)
    ]
    return min(good, default=None)


def _cap(depth: int, depths: DepthsByLoad) -> int | None:
    """The highest load, in one run from the lowest on that holds the primary, at which this depth beats no speculation."""
    off, own, cap = depths.losses.get(0, {}), depths.losses.get(depth, {}), None
    for streams, _ in depths.picks:
        if own.get(streams, inf) >= off.get(streams, inf):
            break
        cap = streams
    return cap if cap is not None and cap >= depths.primary else None


def _worded(setting: Setting) -> Setting:
    """The setting with the engine's words; of an engine whose words are not known, with the block of a scenario."""
    speculative = setting.speculative or {}
    if setting.engine in WORDS:
        return WORDS[setting.engine](setting, speculative)
    try:
        known = setting.engine in PROGRAMS
        words = shlex.join(speculation_words(setting.engine, speculative)) if known else _block(speculative)
    except ValueError:  # a method that the ready-made command does not know
        words = _block(speculative)
    return replace(setting, words=words)


def _sglang(setting: Setting, speculative: Mapping[str, Any]) -> Setting:
    """Keys of the file are lower bounds of the batch size; a single candidate there pins the depth."""
    words = shlex.join(speculation_words("sglang", {k: v for k, v in speculative.items() if k != TABLE}))
    if setting.kind != "table":
        return replace(setting, words=words)
    slots = {str(lowest): {"candidate_steps": [tokens]} for lowest, _, tokens in setting.rows}
    words += f" --speculative-adaptive --speculative-adaptive-config {ADAPTIVE_FILE}"
    return replace(setting, words=words, file=(ADAPTIVE_FILE, json.dumps(slots) + "\n"))


def _trtllm(setting: Setting, speculative: Mapping[str, Any]) -> Setting:
    """Keys of the schedule are upper bounds of the batch size; above the last one nothing is drafted."""
    method = str(speculative.get("method", ""))
    lines = ["speculative_config:", f"  decoding_type: {_DECODING.get(method, method)}", f"  max_draft_len: {speculative[DEPTH]}"]
    if "model" in speculative:
        lines.append(f"  speculative_model: {json.dumps(str(speculative['model']))}")
    if setting.kind == "table":
        last = max(place for place, row in enumerate(setting.rows) if row[2] > 0)
        shown = setting.rows[: last + 1]
        lines.append(f"  draft_len_schedule: {{{', '.join(f'{highest}: {tokens}' for _, highest, tokens in shown)}}}")
    return replace(setting, words="\n".join(lines))


def _embedded(setting: Setting, speculative: Mapping[str, Any]) -> Setting:
    return replace(setting, words=_block(speculative))


def _block(speculative: Mapping[str, Any]) -> str:
    """The block of a scenario, as JSON, which is YAML too."""
    return f"speculative: {json.dumps(dict(speculative))}"


TABLES: dict[str, Callable[[str, int], bool]] = {
    "vllm": lambda method, topk: True,
    "sglang": lambda method, topk: method in _EAGLE and topk == 1,
    "trtllm": lambda method, topk: True,
    "embedded": lambda method, topk: method in ("draft_model", "ngram"),
}
WORDS: dict[str, Callable[[Setting, Mapping[str, Any]], Setting]] = {
    "sglang": _sglang,
    "trtllm": _trtllm,
    "embedded": _embedded,
}
