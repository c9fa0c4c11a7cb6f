"""A tune as a page: the picks, the setting, what was predicted beside what was measured, and how starts scatter."""

import re
from dataclasses import replace
from html import unescape

from specbench.model.tuning.tune_values import LoadFigure, LoadPick, Setting, Tune
from specbench.report.tuning.tune_page import tune_page
from specbench.tune.picks import setting_of
from tests.support.goldens import same_text
from tests.support.tunes import a_load, a_tune, predicted_tune


def _lines(page: str) -> str:
    """What the page says, a line for each row and paragraph."""
    body = re.sub(r"<button.*?</button>", "", page[page.index("<main>") : page.index("</main>")])
    rows = re.sub(r"</(?:tr|p|h1|h2|li|code)>", "\n", re.sub(r"\s*\n\s*", " ", body))
    cells = re.sub(r"</t[hd]>\s*", " | ", rows)
    return "\n".join(line for one in unescape(re.sub(r"<[^>]+>", "", cells)).split("\n") if (line := " ".join(one.split())))


def test_the_page_says_what_was_picked_predicted_and_proposed() -> None:
    """One row a load and one column a depth; 3 is named as a depth to try; the picks differ between 4 and 16."""
    same_text("picked", _lines(tune_page(predicted_tune(), "reports/t")))


def test_a_tune_that_was_cut_off_or_has_no_pick_says_so() -> None:
    """No setting, and no command that would test one."""
    whole = predicted_tune()
    nothing = replace(whole, setting=None, loads=(replace(whole.loads[0], pick=None, sure=None), *whole.loads[1:]))
    partial = replace(whole, setting=None, finished=None, loads=whole.loads[:1])

    assert "specbench confirm" not in tune_page(nothing, "reports/t") + tune_page(partial, "reports/t")
    same_text("no pick", _lines(tune_page(nothing, "reports/t")).split("\n")[0])
    same_text("partial", _lines(tune_page(partial, "reports/t")).split("\n")[0])
    same_text("nothing yet", _lines(tune_page(replace(partial, loads=()), "reports/t")))


def test_a_capped_setting_and_one_without_speculation_have_pages() -> None:
    """A cap names the router's limit; off has nothing to copy."""
    capped = Setting(engine="llamacpp", kind="capped", speculative={}, cap=4, words="--spec-draft-n-max 4")
    off = Setting(engine="embedded", kind="off", speculative=None)

    same_text("capped", _setting_of_page(capped))
    same_text("off", _setting_of_page(off))


def _setting_of_page(setting: Setting) -> str:
    text = _lines(tune_page(replace(predicted_tune(), setting=setting), "reports/t"))
    return text[text.index("Setting\n") : text.index("Predicted beside")]


def test_without_predictions_the_page_has_no_place_for_them() -> None:
    """Nor for the scatter of starts where it is not known."""
    page = tune_page(a_tune(loads=(a_load(1, "depth-4", off=1.0, depth_1=0.66, depth_4=0.48),)), "reports/t")

    assert "Predicted beside" not in page
    assert "start_sd" not in page


def test_names_that_look_like_markup_or_like_a_terminal_stay_text() -> None:
    """A name and the last lines of an engine come from outside."""
    tune = predicted_tune()
    dead = replace(tune.candidates[0], state="failed", reason="<img src=x>\x1b[31m")
    page = tune_page(replace(tune, name="<b>x</b>", candidates=(dead, *tune.candidates[1:])), "reports/t")

    assert "<b>x</b>" not in page
    assert "<img" not in page
    assert "\x1b" not in page


def test_the_page_asks_for_nothing_and_closes_what_it_opens() -> None:
    """One file; every tag that opens a block is closed."""
    page = tune_page(predicted_tune(), "reports/t")

    shown = page[page.index("<main>") : page.index("<script>")]
    assert "http" not in shown
    assert "<script src" not in page
    for tag in ("section", "table", "tr", "td", "th", "ul", "p", "span", "div", "main"):
        assert len(re.findall(rf"<{tag}\b", shown)) == shown.count(f"</{tag}>"), tag


def test_of_a_throughput_more_is_good() -> None:
    """The colour goes by the metric's direction."""
    rules = replace(a_tune().rules, metric="output_tps")
    load = LoadPick(streams=1, pick="depth-4", sure=0.97, next_best=None, figures=(LoadFigure(candidate="depth-4", ratio=1.8),))
    tune: Tune = a_tune(rules=rules, loads=(load,))

    assert re.search(r'class="good"[^>]*><b[^>]*>\+80 %', tune_page(replace(tune, setting=setting_of(tune)), "reports/t"))
