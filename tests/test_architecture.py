"""The shape of the code holds: imports run one way, modules stay small, the command line stays light."""

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

PACKAGE = Path("specbench")
MODULES = sorted(PACKAGE.rglob("*.py"))
LONGEST, SHORTEST = 350, 20
MOST_IN_A_FOLDER, MOST_AT_THE_TOP = 15, 8
# File names that occur twice, since both are about one noun: the stage says which side of it.
TWICE = {
    "__main__.py": "a program each",
    "arms.py": "an arm as written, and as it runs",
    "cells.py": "a cell of the analysis, and as it is shown",
    "endpoint.py": "what an endpoint reports, and what one serves",
    "findings.py": "findings judged, and in words",
    "machine.py": "the machine before a run, and during a block",
    "notes.py": "notes found, and in words",
    "previous_runs.py": "earlier runs as values, and read",
    "run.py": "the command, and the job",
    "safety.py": "safety judged, and in words",
    "shown.py": "what is drawn as values, and computed",
    "verdict.py": "the verdict found, and in words",
}
# Modules that may be longer, each with the reason.
LONGER: dict[str, str] = {}
HEAVY = ("locust", "gevent", "pandas", "matplotlib", "scipy", "numpy", "pydantic", "httpx")


def test_imports_run_one_way() -> None:
    """The contracts of pyproject.toml hold."""
    done = subprocess.run([str(Path(sys.executable).parent / "lint-imports")], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_holds_one_noun(module: Path) -> None:
    """No module is longer than a person reads at once."""
    lines = len(module.read_text().splitlines())

    assert lines <= LONGEST or str(module) in LONGER, f"{module} has {lines} lines: which second noun moved in?"
    assert lines >= SHORTEST or module.name.startswith("__"), f"{module} has {lines} lines: a paragraph of which module?"


@pytest.mark.parametrize("folder", sorted({module.parent for module in MODULES}), ids=str)
def test_a_folder_reads_in_a_minute(folder: Path) -> None:
    """A folder is a stage and holds few modules; the top holds fewer."""
    modules = [module for module in MODULES if module.parent == folder]

    assert len(modules) <= MOST_AT_THE_TOP if folder == PACKAGE else len(modules) - 1 <= MOST_IN_A_FOLDER


def test_a_name_has_one_meaning() -> None:
    """No two public classes share a name, and no two files but those about one noun."""
    classes = Counter(
        node.name
        for module in MODULES
        for node in ast.parse(module.read_text()).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    files = Counter(module.name for module in MODULES if module.name != "__init__.py")

    assert [name for name, count in classes.items() if count > 1] == []
    assert [name for name, count in files.items() if count > 1 and name not in TWICE] == []
    assert [name for name in TWICE if files[name] < 2] == []


def test_unit_tests_mirror_the_package() -> None:
    """Every folder of unit tests has its twin."""
    folders = {path.parent for path in Path("tests/unit").rglob("test_*.py")}

    assert [str(folder) for folder in folders if not (PACKAGE / folder.relative_to("tests/unit")).is_dir()] == []


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_says_what_it_is_for(module: Path) -> None:
    """Each module opens with its purpose, and each public function and class says what it gives."""
    tree = ast.parse(module.read_text())
    assert ast.get_docstring(tree), f"{module} has no docstring"
    silent = [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_") and not ast.get_docstring(node)
    ]

    assert silent == []


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_names_are_the_fields_words(module: Path) -> None:
    """No class or module hides behind a word that says nothing."""
    empty_words = ("manager", "handler", "helper", "util", "base", "mixin", "factory", "processor")
    names = [node.name for node in ast.walk(ast.parse(module.read_text())) if isinstance(node, ast.ClassDef)] + [module.stem]

    assert [name for name in names for word in empty_words if name.lower().endswith(word)] == []


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_nothing_is_left_for_later(module: Path) -> None:
    """No stub and no note to self is shipped."""
    text = module.read_text()

    assert [word for word in ("TODO", "FIXME", "XXX", "NotImplementedError") if word in text] == []


def loaded_by(statement: str) -> set[str]:
    """The heavy modules that are loaded after this statement ran in a fresh interpreter."""
    code = f"import sys\n{statement}\nprint(*[m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split()) if done.stdout.strip() else set()


def test_help_imports_nothing_heavy() -> None:
    """`specbench --help` answers at once."""
    assert (
        loaded_by("import specbench.cli.main\ntry: specbench.cli.main.app(['--help'])\nexcept SystemExit: pass\nprint()") == set()
    )


def test_gate_and_probe_do_without_scipy_pandas_and_matplotlib() -> None:
    """What a pipeline step runs starts quickly."""
    loaded = loaded_by("import specbench.report, specbench.store, specbench.probe.probe")

    assert loaded.isdisjoint({"scipy", "pandas", "matplotlib", "locust"})


def test_the_analysis_never_loads_the_load_generator() -> None:
    """Analysing a run patches nothing."""
    assert loaded_by("import specbench.run.analyze").isdisjoint({"locust", "gevent"})


def test_no_file_names_a_package_index_or_this_machine() -> None:
    """What is committed works anywhere."""
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.splitlines()
    words = ("pypi" + ".org", "pythonhosted" + ".org", "registry.npmjs" + ".org", "/work" + "/main", "/ro" + "ot/")
    texts = {name: Path(name).read_bytes() for name in listed if Path(name).is_file()}

    assert [(name, word) for name, text in texts.items() for word in words if word.encode() in text] == []
