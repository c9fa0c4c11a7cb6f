"""The pages of `--help`: commands and options in groups, each command with examples. Plain text, as it must come at once."""

import inspect
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

OTHER = "Options"

# Group by group, in the order of the page: each command with its examples.
GROUPS: dict[str, dict[str, tuple[str, ...]]] = {
    "Measure": {
        "run": (
            "specbench run scenarios/code.yaml --profile smoke",
            "specbench run code.yaml --baseline http://gpu-a:8000 --speculative http://gpu-b:8000",
            "specbench run code.yaml --gate --set matrix.pairs=20",
        ),
        "capacity": (
            "specbench capacity code.yaml --slo ttft_p95=400ms --slo tpot_p95=20ms",
            "specbench capacity code.yaml --traffic 40 --headroom 30% --minutes 90",
        ),
        "tune": (
            "specbench tune scenarios/tune.yaml --profile smoke",
            "specbench tune code.yaml --vary num_speculative_tokens=1,2,3,5,8",
        ),
        "confirm": ("specbench confirm reports/tune-tune-20261129-101500", "specbench confirm RUN --enforce router --gate"),
        "answers": (
            "specbench answers scenarios/code.yaml",
            "specbench answers code.yaml --baseline http://gpu-a:8000 --speculative http://gpu-b:8000 --prompts 512",
        ),
        "demo": ("specbench demo", "specbench demo --open"),
        "probe": ("specbench probe http://gpu-a:8000 --model llama --concurrency 8 --requests 64",),
        "worker": ("specbench worker load-master:5557 --processes 4",),
    },
    "Before a run": {
        "bins": ("specbench bins traffic.jsonl", "specbench bins traffic.jsonl --label task -o traffic.yaml"),
        "init": (
            "specbench init",
            "specbench init --baseline http://gpu-a:8000 --speculative http://gpu-b:8000 --dataset prompts.jsonl",
        ),
        "plan": ("specbench plan code.yaml --profile standard", "specbench plan code.yaml --like reports/code-20261129-101500"),
        "doctor": ("specbench doctor", "specbench doctor http://gpu-a:8000"),
    },
    "Read a run": {
        "report": (
            "specbench report",
            "specbench report latest --format html",
            "specbench report RUN --format junit -o junit.xml",
        ),
        "explain": (
            "specbench explain",
            "specbench explain pace",
            "specbench explain no_benefit",
            "specbench explain latest 16 ttft_p50",
        ),
        "list": ("specbench list", "specbench list nightly --json"),
        "gate": ("specbench gate", "specbench gate RUN --allow-capped -q"),
        "compare": (
            "specbench compare vllm-base.json vllm-spec.json",
            "specbench compare reports/last-week reports/this-week --gate",
        ),
        "analyze": ("specbench analyze RUN",),
    },
    "After launch": {
        "watch": (
            "specbench watch latest --speculative http://gpu-b:8000/metrics --once",
            "specbench watch RUN --prometheus http://prometheus:9090 --speculative '{arm=\"spec\"}'",
            "specbench watch --rejudge watch-state",
        ),
        "history": (
            "specbench history reports",
            "specbench history nightly --metric ttft_p95 --metric output_tps",
            "specbench history nightly --format csv -o history.csv",
        ),
        "export": (
            "specbench export rules RUN --speculative '{arm=\"spec\"}' -o rules.yml",
            "specbench export cloudwatch",
            "specbench export routes RUN --speculative vllm-spec:8000 --baseline vllm-base:8000",
        ),
    },
    "Integrate": {
        "serve": ("specbench serve RUN --max-age 6h", "specbench serve reports"),
        "schema": ("specbench schema",),
        "completion": ("specbench completion bash >>~/.bashrc",),
    },
    "Lab": {
        "engine": ("specbench engine --speculative draft_model --port 8000",),
        "calibrate": (
            "specbench calibrate aa --jobs 2",
            "specbench calibrate --baseline http://gpu-a:8000 --speculative http://gpu-b:8000",
        ),
    },
}


def add(app: typer.Typer, command: Callable[..., None], name: str | None = None) -> None:
    """Adds the command with its group and its examples."""
    named = name or command.__name__
    group = next((title for title, commands in GROUPS.items() if named in commands), OTHER)
    examples = GROUPS.get(group, {}).get(named, ())
    epilog = "\n".join(["Examples:", *examples]) if examples else None
    app.command(named, cls=GroupedOptions, epilog=epilog, rich_help_panel=group)(command)


class GroupedOptions(TyperCommand):
    """A command whose help has its options in groups, those without one last, and its examples line by line."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes arguments, then each group of options."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx)
            if row is not None:
                is_argument = parameter.param_type_name == "argument"
                title = "Arguments" if is_argument else getattr(parameter, "rich_help_panel", None) or OTHER
                groups.setdefault(title, []).append(row)
        for title in sorted(groups, key=lambda one: (one != "Arguments", one == OTHER)):
            with formatter.section(title):
                formatter.write_dl(groups[title])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Writes the examples as they stand, one a line."""
        if self.epilog:
            formatter.write_paragraph()
            for line in inspect.cleandoc(self.epilog).splitlines():
                formatter.write(f"{line}\n" if line.endswith(":") else f"  {line}\n")


class GroupedCommands(TyperGroup):
    """The program, whose help has its commands in groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes the groups of commands, then the options of the program itself."""
        width = max((len(name) for name in self.commands), default=0)
        for title in GROUPS:
            rows = [(name, one) for name in GROUPS[title] if (one := self.get_command(ctx, name)) is not None]
            if rows:
                with formatter.section(title):
                    room = formatter.width - width - 6
                    formatter.write_dl([(f"{name:<{width}}", one.get_short_help_str(room)) for name, one in rows])
        own = [row for parameter in self.get_params(ctx) if (row := parameter.get_help_record(ctx)) is not None]
        with formatter.section(OTHER):
            formatter.write_dl(own)
