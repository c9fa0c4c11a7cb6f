"""Picks become what each engine takes: vLLM's JSON, SGLang's file, TensorRT-LLM's YAML, llama.cpp's flags, or a cap."""

import json
import shlex
from typing import Any

import pytest

from specbench.model.tuning.tune_values import Setting
from specbench.scenario.settings import DepthsByLoad, capped_table, has_table, rows_of, setting_for, thresholds_of
from tests.support.goldens import same_text

TABLE = "num_speculative_tokens_per_batch_size"
PICKS = ((1, 4), (4, 2), (8, 1), (16, 0))
LOSSES = {
    0: {1: 1.0, 4: 0.4, 8: 0.1, 16: 0.0},
    1: {1: 0.35, 4: 0.1, 8: 0.0, 16: 0.04},
    2: {1: 0.15, 4: 0.0, 8: 0.015, 16: 0.06},
    4: {1: 0.0, 4: 0.06, 8: 0.1, 16: 0.13},
}
EAGLE = {"method": "eagle3", "model": "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B"}
DRAFT = {"method": "draft_model", "model": "Qwen/Qwen2.5-0.5B"}


def _setting(engine: str, speculative: dict[str, Any], picks: tuple[tuple[int, int], ...] = PICKS, **changes: Any) -> Setting:
    asked: dict[str, Any] = {"picks": picks, "losses": LOSSES, "primary": 1, "within": 0.02, **changes}
    return setting_for(engine, speculative, DepthsByLoad(**asked))


def _as_vllm_reads_it(config: dict[str, Any], most: int = 64) -> list[int]:
    """The depth of each batch size from 1, by vLLM's own rules: rows of three ints, the first at 1, no overlap, K from 0 on;
    gaps and all beyond the last row take the K before them; K is clamped to the most."""
    table: list[int] = []
    for low, high, tokens in config[TABLE]:
        assert all(type(number) is int for number in (low, high, tokens))
        assert tokens >= 0
        assert low <= high
        assert low == 1 if not table else low > len(table)
        table += [table[-1]] * (low - 1 - len(table)) if table else []
        table += [min(tokens, config["num_speculative_tokens"])] * (high - low + 1)
    return (table + [table[-1]] * most)[:most]


def test_vllms_table_says_what_was_picked_by_vllms_rules() -> None:
    """4 at one stream, 2 to four, 1 to eight, and off beyond, also far beyond."""
    setting = _setting("vllm", EAGLE)
    flag, _, text = setting.words.partition(" ")
    config = json.loads(text.strip("'"))

    assert (flag, setting.kind) == ("--speculative-config", "table")
    assert config["num_speculative_tokens"] == 4
    assert config["method"] == "eagle3"
    assert _as_vllm_reads_it(config) == [4, 2, 2, 2, 1, 1, 1, 1] + [0] * 56


@pytest.mark.parametrize(
    ("picks", "rows", "thresholds"),
    [
        (PICKS, ((1, 1, 4), (2, 4, 2), (5, 8, 1), (9, 16, 0)), (1, 4, 8)),
        (((1, 4), (4, 4), (16, 1)), ((1, 4, 4), (5, 16, 1), (17, 512, 0)), (4, 16)),
        (((1, 2), (4, 4), (16, 0)), ((1, 3, 2), (4, 4, 4), (5, 16, 0)), (3, 4)),
        (((1, 0), (4, 2)), ((1, 3, 0), (4, 4, 2), (5, 512, 0)), (3, 4)),
        (((600, 2),), ((1, 600, 2), (601, 601, 0)), (600,)),
    ],
)
def test_a_deeper_range_ends_at_the_highest_load_where_it_was_picked(
    picks: tuple[tuple[int, int], ...], rows: tuple[tuple[int, int, int], ...], thresholds: tuple[int, ...]
) -> None:
    """A shallower one goes on to just below the next tested load; above the highest there is 0."""
    assert (rows_of(picks), thresholds_of(rows)) == (rows, thresholds)
    assert len(_as_vllm_reads_it({TABLE: [list(row) for row in rows], "num_speculative_tokens": 4})) == 64


@pytest.mark.parametrize(
    ("engine", "speculative"),
    [
        ("vllm", EAGLE),
        ("sglang", EAGLE),
        ("sglang", DRAFT),
        ("trtllm", EAGLE),
        ("llamacpp", DRAFT),
        ("embedded", {"method": "draft_model"}),
        ("tgi", {"method": "medusa"}),
    ],
    ids=lambda value: value if isinstance(value, str) else value["method"],
)
def test_each_engine_has_its_own_words(engine: str, speculative: dict[str, Any]) -> None:
    """Golden: a table where there is one, else the depth at the primary load with the cap up to which it wins."""
    setting = _setting(engine, speculative)
    name = f"{engine} {speculative['method']}"
    same_text(name, f"{setting.kind}, cap {setting.cap}", setting.words, *(setting.file or ()))


@pytest.mark.parametrize("picks", [PICKS, ((1, 4), (4, 4))], ids=["changing", "static"])
@pytest.mark.parametrize("engine", ["vllm", "sglang", "llamacpp"])
def test_a_shell_reads_the_words_as_they_are_meant(engine: str, picks: tuple[tuple[int, int], ...]) -> None:
    """A path that a shell would expand, split or end in the middle reaches the engine whole."""
    model = "/models/Qwen's $HOME & co; `draft`#1"
    words = shlex.split(_setting(engine, {"method": "eagle3", "model": model}, picks).words)

    assert model in ([json.loads(words[1])["model"]] if engine == "vllm" else words)


def test_one_depth_that_loses_little_anywhere_needs_no_table() -> None:
    """At 1, 4 and 8 streams depth 3 is within 2 % of each pick; without it the table is needed."""
    picks = ((1, 4), (4, 2), (8, 2))
    losses = {**LOSSES, 3: {1: 0.01, 4: 0.02, 8: 0.0}}

    assert _setting("vllm", EAGLE, picks, losses=losses).kind == "static"
    assert json.loads(_setting("vllm", EAGLE, picks, losses=losses).words.split("'")[1])["num_speculative_tokens"] == 3
    assert _setting("vllm", EAGLE, picks).kind == "table"


def test_the_same_pick_everywhere_is_that_depth_and_off_everywhere_is_off() -> None:
    """No table either way."""
    assert _setting("vllm", EAGLE, ((1, 2), (4, 2))).speculative == {**EAGLE, "num_speculative_tokens": 2}
    assert _setting("vllm", EAGLE, ((1, 0), (4, 0))).kind == "off"


def test_without_a_table_the_cap_ends_where_the_depth_stops_winning() -> None:
    """Depth 4 wins to 4 streams and ties at 8; where it does not win at the primary load there is nothing to set."""
    assert (_setting("llamacpp", DRAFT).kind, _setting("llamacpp", DRAFT).cap) == ("capped", 4)
    assert _setting("llamacpp", DRAFT, primary=16).kind == "off"


def test_a_cap_becomes_a_table_where_the_engine_has_one() -> None:
    """As deep as before to the cap, nothing beyond."""
    setting = capped_table("embedded", {"method": "draft_model", "num_speculative_tokens": 4}, 4)

    assert (setting.rows, thresholds_of(setting.rows)) == (((1, 4, 4), (5, 512, 0)), (4,))
    with pytest.raises(ValueError, match="num_speculative_tokens must say"):
        capped_table("embedded", {"method": "draft_model"}, 4)


@pytest.mark.parametrize(
    ("engine", "speculative", "has"),
    [
        ("vllm", DRAFT, True),
        ("trtllm", DRAFT, True),
        ("sglang", EAGLE, True),
        ("sglang", {**EAGLE, "eagle_topk": 4}, False),
        ("sglang", DRAFT, False),
        ("llamacpp", DRAFT, False),
        ("embedded", {"method": "ngram"}, True),
        ("embedded", {"method": "heads"}, False),
    ],
)
def test_not_every_engine_takes_a_table(engine: str, speculative: dict[str, Any], has: bool) -> None:
    """SGLang's is for chains of EAGLE alone; llama.cpp has none."""
    assert has_table(engine, speculative) is has
