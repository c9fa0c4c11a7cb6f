"""The report for a terminal or a CI log: verdict and finding, what it ran on, one table, what to do next.

At most 45 lines for three loads and 15 without a judgement. The long form is `terminal/explanation.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from rich.cells import cell_len

from specbench.credentials import printable
from specbench.explain import labels, numbers
from specbench.explain.answers.answers_in_verdict import answers_line
from specbench.explain.brief import first_sentences, headline, next_step, table_words
from specbench.explain.notes import notices
from specbench.explain.rules.load_ranges import range_words
from specbench.model import queries
from specbench.model.result import IntegrityCheck, Result, SliceResult
from specbench.model.run_info import EndpointInfo
from specbench.model.scenario import ARMS
from specbench.report.terminal.comparison_table import Section, brief_section, full_section, section, table_lines
from specbench.report.terminal.screen import WIDTH, Screen
from specbench.report.view.comparison_rows import ComparisonRow, run_rows
from specbench.report.view.fairness import speculation
from specbench.report.view.first_screen import request_counts
from specbench.report.view.load_tables import MOST_ROWS, LoadTable, load_tables
from specbench.store import REPORT

MOST_LINES = 45
MOST_INVALID = 15
MOST_OF_ONE = 5  # lines of one reason, where there is no judgement
IN_FULL = 3  # loads; of more, the one that must show the gain, the cap, and the first that did not pass
BRIEF = 8  # loads in one line each; slices likewise
FEWEST_ROWS = 5
SCREEN = Screen()


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOptions:
    """How the report is asked for: the run's folder where it is known, all rows and checks, one line, the gate's own code."""

    folder: Path | None = None
    verbose: bool = False
    quiet: bool = False
    exit_code: int | None = None
    screen: Screen = SCREEN


def text(result: Result, options: TextOptions | None = None) -> str:
    """The report; every line fits the screen, and ends with the next command, the page, and where to read why."""
    asked = options or TextOptions()
    if asked.quiet:
        return verdict_line(result, asked.screen) + "\n"
    if asked.verbose:
        blocks = _blocks(result, asked, None)
    elif not result.cells or result.verdict == "INVALID":
        blocks = _fewer(result, asked, MOST_INVALID)
    else:
        blocks = _short(result, asked)
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def verdict_line(result: Result, screen: Screen) -> str:
    """The verdict and what was found, on one line however long it is."""
    tone = labels.VERDICTS[result.verdict].tone
    said = printable(screen.fit(f"{result.run.name}: {headline.found(result)}"))
    return f"{screen.paint(result.verdict, tone, 'bold')}  {said}"


def _short(result: Result, asked: TextOptions) -> list[list[str]]:
    """The blocks with as many rows and loads as fit the lines of a report; a narrow screen has all of them, line by line."""
    blocks = _blocks(result, asked, MOST_ROWS)
    for most, brief in (
        *((most, BRIEF) for most in range(MOST_ROWS - 1, FEWEST_ROWS, -1)),
        *((FEWEST_ROWS, n) for n in (8, 4, 0)),
    ):
        if _length(blocks) <= MOST_LINES or asked.screen.columns < WIDTH:
            break
        blocks = _blocks(result, asked, most, brief)
    return blocks


def _length(blocks: list[list[str]]) -> int:
    kept = [block for block in blocks if block]
    return sum(map(len, kept)) + len(kept) - 1


def _blocks(result: Result, asked: TextOptions, most: int | None, brief: int = BRIEF) -> list[list[str]]:
    """The blocks of the report, each load with at most so many rows; None where everything is asked for."""
    screen = asked.screen
    level, pairs = numbers.percent(1 - result.config.alpha), result.config.pairs
    blocks = [_head(result, screen), _setup(result, screen), table_lines(_sections(result, most, brief), screen, level, pairs)]
    if most is None:
        reasons = [line for reason in result.reasons for line in screen.paragraph(reason.message, "    ", "  - ")]
        checks = [line for check in queries.integrity(result) for line in _check(check, screen)]
        notes = [line for note in notices(result) for line in screen.paragraph(note, "    ", "  - ")]
        blocks += [[title, *lines] for title, lines in (("reasons", reasons), ("checks", checks), ("notes", notes)) if lines]
    return [*blocks, _end(result, asked)]


def _fewer(result: Result, asked: TextOptions, most: int) -> list[list[str]]:
    """A run without a judgement: why, in as many lines as there are; no figure, as none proves anything."""
    screen = asked.screen
    blocks = [_head(result, screen, MOST_OF_ONE), _setup(result, screen) if result.cells else [], [], _end(result, asked)]
    said = {next_step.action(result)}
    named = [check.message for check in queries.integrity(result) if check.ok is False] if result.cells else []
    named = named or [reason.message for reason in result.reasons if reason.code != "invalid"]
    for message in dict.fromkeys(one for one in named if one not in said):
        lines = screen.paragraph(message, "    ", "  - ")
        room = most - _length([*blocks[:2], [*blocks[2], ""], blocks[3]]) + 1
        if room > 0:
            blocks[2] += _cut(lines, room, screen)
    return blocks


def _cut(lines: list[str], most: int, screen: Screen) -> list[str]:
    """The first of these lines, the last of them with dots where there were more."""
    return lines if len(lines) <= most else [*lines[: most - 1], f"{lines[most - 1][: screen.columns - 4]} ..."]


def verdict_lines(result: Result, screen: Screen) -> list[str]:
    """The verdict and what was found, wrapped."""
    tone = labels.VERDICTS[result.verdict].tone
    lines = screen.paragraph(f"{result.verdict}  {result.run.name}: {headline.found(result)}", "  ")
    first = lines[0].strip()
    word = result.verdict
    rest = first.removeprefix(word).strip()
    return [f"{screen.paint(word, tone, 'bold')}  {rest}".rstrip(), *lines[1:]]


def _head(result: Result, screen: Screen, most: int | None = None) -> list[str]:
    """The verdict, whether it counts for a real server, and what to do, in at most so many lines."""
    demonstration = screen.paragraph(next_step.demonstration(result)) if result.cells else []
    action = screen.paragraph(next_step.action(result))
    return [*verdict_lines(result, screen), *demonstration, *(action if most is None else _cut(action, most, screen))]


def _setup(result: Result, screen: Screen) -> list[str]:
    """What was measured, on what, and whether it is whole."""
    run, spec = result.run, result.endpoints.speculative
    engines = dict.fromkeys(_engine(result.endpoints.of(arm)) for arm in ARMS)
    design = f", {numbers.design(result.config.design)}" if result.config.design != "plain" else ""
    counts = [cell.counts.of(arm) for cell in result.cells for arm in ARMS]
    checks = queries.integrity(result)
    broken = sum(check.ok is False for check in checks)
    parts = (
        f"model {spec.model} · engine {' against '.join(engines)}",
        f"speculation {(speculation(spec) or 'not reported').removeprefix('method ')}",
        f"{run.profile}, {numbers.one_of(result.config.pairs, 'pair')} a load{design}",
        first_sentences.trust(len(checks), broken, request_counts(counts)),
    )
    lines = [next_step.PARTIAL if run.partial else "", *_joined(parts, screen)]
    return [line for one in lines if one for line in screen.paragraph(one, "  ", "")]


def _joined(parts: Sequence[str], screen: Screen) -> list[str]:
    """The parts on as few lines as hold them whole."""
    lines = [parts[0]]
    for part in parts[1:]:
        longer = f"{lines[-1]} · {part}"
        lines = [*lines[:-1], longer] if cell_len(longer) <= screen.columns else [*lines, part]
    return lines


def _engine(arm: EndpointInfo) -> str:
    return f"{arm.engine} {arm.engine_version or ''}".strip()


def _sections(result: Result, most: int | None, brief: int) -> list[Section]:
    tables = load_tables(result)
    run_wide = [row for row in run_rows(result) if most is None or row.state == "FAIL" or (row.decides and row.state != "PASS")]
    run = [Section("whole run", _worst(run_wide), tuple(run_wide))] if run_wide else []
    if most is None:
        return [*_slices(result, len(result.slices)), *(full_section(table) for table in tables), *run]
    full = in_full(result, tables)
    others = [table.id for table in tables if table not in full]
    hidden = others[brief:] if len(others) > brief + 1 else []
    parts = [section(table, most) if table in full else brief_section(table) for table in tables if table.id not in hidden]
    rest = [Section(numbers.one_of(len(hidden), "more load"), "--verbose")] if hidden else []
    return [*_slices(result, brief), *parts, *rest, *run]


def in_full(result: Result, tables: tuple[LoadTable, ...]) -> tuple[LoadTable, ...]:
    """The loads that a short report shows in full: all of up to three, else the primary, the cap and the first past it."""
    if len(tables) <= IN_FULL:
        return tables
    primary, enabled = queries.primary(result), [cell.id for cell in queries.enabled(result)]
    first = next((table for table in tables if primary is not None and table.id == primary.id), tables[0])
    cap = next((table for table in reversed(tables) if table.id in enabled), None)
    others = [table for table in tables if table.required and table.state != "PASS"]
    worst = [*(table for table in others if table.state == "FAIL"), *others]
    chosen = list(dict.fromkeys(table.id for table in (first, cap, *worst) if table is not None))[:IN_FULL]
    return tuple(table for table in tables if table.id in chosen)


def _slices(result: Result, brief: int) -> list[Section]:
    """The verdict of each slice in one line, of so many of them."""
    parts = [Section(numbers.slice_words(part), ", ".join(filter(None, (part.verdict, _range(part))))) for part in result.slices]
    more = len(parts) - brief
    return [*parts[:brief], Section(numbers.one_of(more, "more slice"), "--verbose")] if more > 1 else parts


def _range(part: SliceResult) -> str:
    found = queries.ranges(part)
    return range_words(found) if found else ""


def _worst(rows: list[ComparisonRow]) -> str:
    states = {row.state for row in rows if row.decides}
    return "FAIL" if "FAIL" in states else "open" if states - {"PASS"} else "pass"


def _check(check: IntegrityCheck, screen: Screen) -> list[str]:
    mark = table_words.DECIDING_MARKS["PASS" if check.ok else "FAIL" if check.ok is False else "NODATA"]
    return screen.paragraph(f"{check.id}: {check.message}", "      ", f"  {screen.fit(mark)} ")


def _beside_name(said: str, screen: Screen) -> list[str]:
    """The sentences behind a name of eight columns, as lines."""
    first, *rest = screen.paragraph(said, " " * 8, " " * 8)
    return [first.strip(), *rest]


def _end(result: Result, asked: TextOptions) -> list[str]:
    """The next command, the page, where to read why, and the exit code."""
    run = quote(str(asked.folder)) if asked.folder is not None else "RUN"
    command = next_step.next_command(result)
    code = f"{result.exit_code}" if asked.exit_code is None else f"{asked.exit_code}"
    always = asked.exit_code is not None or result.verdict == "INVALID"
    amounts = ((len(result.reasons), "reason"), (len(notices(result)), "note"))
    beside = ", ".join(numbers.one_of(amount, noun) for amount, noun in amounts if amount)
    lines = [("next", asked.screen.command(command, 8))] if command else []
    own = next_step.own_command(result)
    lines += [("yours", asked.screen.command(own, 8))] if own else []
    answers = answers_line(result) if result.verdict != "INVALID" else ""
    lines = [*([("answers", _beside_name(answers, asked.screen))] if answers else []), *lines]
    lines += [
        ("report", [f"{asked.folder / REPORT}" if asked.folder is not None else f"{run}/{REPORT}"]),
        ("why", [f"specbench explain {run}{f'  ({beside})' if beside else ''}"]),
        ("exit", [code if always or code == "0" else f"{code} with --gate, 0 without"]),
    ]
    return [line for name, texts in lines for line in (f"{name:<8}{printable(texts[0])}", *texts[1:])]
