"""A tune on a terminal of 80 columns: one row a load, one column a candidate, the pick and how sure it is."""

from textwrap import wrap

from specbench.credentials import printable_line
from specbench.explain.numbers import columns
from specbench.explain.tuning import tune_sentences as words
from specbench.model.tuning.tune_values import LoadPick, Tune
from specbench.report.tuning.tune_rows import PAGE, cell_text, column_names

WIDTH = 80
MOST_COLUMNS = 6  # candidates side by side
_LOAD, _CELL, _PICK, _SURE = 9, -8, -10, -6


def tune_table(tune: Tune, folder: str) -> str:
    """The picks with their table, the remarks, the setting and the next step, in lines of at most 80 columns; commands and
    settings are never wrapped, as they are to be copied."""
    names = [*column_names(tune)]
    parts = [names[place : place + MOST_COLUMNS] for place in range(0, len(names), MOST_COLUMNS)]
    tables = (
        [line for place, part in enumerate(parts) for line in _table(tune, part, place == len(parts) - 1)] if tune.loads else []
    )
    said = [line for remark in words.remarks(tune) for line in wrap(printable_line(remark), WIDTH, subsequent_indent="  ")]
    setting = words.setting_lines(tune.setting)
    text = [line for one in setting for line in (wrap(one, WIDTH) if one == words.TABLE_COSTS else one.split("\n"))]
    return "\n".join(
        [
            *(words.heading(tune), *tables, "", *said, *(["", *text] if text else [])),
            *([step] if (step := words.next_step(tune, folder)) else []),
            *(["", words.as_page(f"{folder}/{PAGE}")] if tune.loads else []),
        ]
    ).rstrip()


def _table(tune: Tune, names: list[str], last: bool) -> list[str]:
    head = ("streams", *(_shortened(words.candidate_head(name), -_CELL) for name in names), *(("pick", "sure") if last else ()))
    rows = [(str(load.streams), *(cell_text(load, name) for name in names), *_picked(load, last)) for load in tune.loads]
    return ["", *columns([head, *rows], (_LOAD, *([_CELL] * len(names)), *((_PICK, _SURE) if last else ())), gap=" ")]


def _picked(load: LoadPick, last: bool) -> tuple[str, ...]:
    return (_shortened(words.pick_name(load), -_PICK), words.sure(load.sure) if load.pick else "") if last else ()


def _shortened(name: str, width: int) -> str:
    """The name in so many columns: a method loses its end, never its depth."""
    method, dash, depth = name.rpartition("-")
    return name if len(name) <= width else f"{method[: width - len(depth) - 2]}…{dash}{depth}"
