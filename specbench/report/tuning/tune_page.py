"""A tune as one HTML file: the picks by load, the setting, predictions beside measurements, and how starts scatter."""

from specbench.credentials import printable_line
from specbench.explain.tuning import tune_sentences as words
from specbench.model.tuning.tune_values import Tune
from specbench.report.formats.html import rendered
from specbench.report.tuning.tune_rows import has_predictions, heads_of, tried_rows, tune_rows


def tune_page(tune: Tune, folder: str) -> str:
    """The whole page.

    Args:
        folder: Where the tune lies, as its commands name it.
    """
    setting = tune.setting
    return rendered(
        "tune.html",
        title=tune.name,
        started=tune.started[:16].replace("T", " "),
        answer=words.answer(tune),
        mark=words.MARK,
        size=words.size_of(tune),
        metric=words.against_baseline(tune),
        heads=heads_of(tune),
        rows=tune_rows(tune),
        remarks=[printable_line(one) for one in words.notes_of(tune)],
        setting_name="" if setting is None else words.setting_name(setting),
        setting_words="" if setting is None else "\n".join(words.setting_words(setting)),
        costs=words.TABLE_COSTS if setting is not None and setting.kind == "table" else "",
        confirm=words.confirm_command(tune, folder),
        no_proof=words.NO_PROOF,
        predicted_note=words.PREDICTED if has_predictions(tune) else "",
        scatter=words.scatter(tune),
        scatter_use=words.scatter_use(tune),
        tried=tried_rows(tune),
    )
