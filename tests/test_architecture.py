"""The shape of the code holds: imports run one way, modules stay small, the command line stays light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path("specbench")
MODULES = sorted(PACKAGE.rglob("*.py"))
LONGEST = 350
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
    assert loaded_by("import specbench.cli\ntry: specbench.cli.app(['--help'])\nexcept SystemExit: pass\nprint()") == set()


def test_gate_and_probe_do_without_scipy_pandas_and_matplotlib() -> None:
    """What a pipeline step runs starts quickly."""
    loaded = loaded_by("import specbench.report, specbench.store, specbench.probe")

    assert loaded.isdisjoint({"scipy", "pandas", "matplotlib", "locust"})


def test_the_analysis_never_loads_the_load_generator() -> None:
    """Analysing a run patches nothing."""
    assert loaded_by("import specbench.analyze").isdisjoint({"locust", "gevent"})


def test_no_file_names_a_package_index_or_this_machine() -> None:
    """What is committed works anywhere."""
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.splitlines()
    words = ("pypi" + ".org", "pythonhosted" + ".org", "registry.npmjs" + ".org", "/work" + "/main", "/ro" + "ot/")
    texts = {name: Path(name).read_bytes() for name in listed if Path(name).is_file()}

    assert [(name, word) for name, text in texts.items() for word in words if word.encode() in text] == []
