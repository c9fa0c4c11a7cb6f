"""Text that any Python installation has, as documents to cut prompts from. No network, no files of our own.

Both corpora are a demonstration: models have read Python's library many times, so drafts fit it unusually well.
"""

import ast
import sysconfig
from functools import cache
from pathlib import Path

from specbench.errors import DataError

CORPORA = ("python", "prose")
# Pure-Python packages and modules of the standard library with long, varied source; test suites are left out.
_PYTHON = (
    "argparse.py",
    "asyncio",
    "collections",
    "concurrent",
    "csv.py",
    "dataclasses.py",
    "datetime.py",
    "_pydatetime.py",
    "decimal.py",
    "_pydecimal.py",
    "difflib.py",
    "email",
    "fractions.py",
    "ftplib.py",
    "heapq.py",
    "html",
    "http",
    "imaplib.py",
    "inspect.py",
    "json",
    "logging",
    "mailbox.py",
    "multiprocessing",
    "optparse.py",
    "pathlib.py",
    "pickle.py",
    "random.py",
    "shutil.py",
    "smtplib.py",
    "sqlite3",
    "statistics.py",
    "subprocess.py",
    "tarfile.py",
    "textwrap.py",
    "threading.py",
    "typing.py",
    "unittest",
    "urllib",
    "xml",
)
_SHORTEST_DOCUMENT = 400


@cache
def documents(corpus: str) -> tuple[str, ...]:
    """The documents of a built-in corpus, the same ones in the same order for one Python version.

    `python`: source files of the standard library. `prose`: its longer docstrings and the language reference that `help()` shows.

    Raises:
        DataError: this Python came without its library's source.
    """
    sources = [path.read_text(encoding="utf-8", errors="replace") for path in _source_files()]
    if not sources:
        raise DataError("this Python has no library source to cut prompts from; give workload.source.dataset a file instead")
    if corpus == "python":
        return tuple(sources)
    return tuple(_prose(sources))


def _source_files() -> list[Path]:
    library = Path(sysconfig.get_paths()["stdlib"])
    found: list[Path] = []
    for name in _PYTHON:
        entry = library / name
        files = sorted(entry.rglob("*.py")) if entry.is_dir() else [entry]
        found += [file for file in files if file.is_file() and not {"test", "tests"} & set(file.relative_to(library).parts)]
    return found


def _prose(sources: list[str]) -> list[str]:
    from pydoc_data import topics

    texts = [" ".join(text.split()) for text in topics.topics.values()]
    for source in sources:
        nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
        texts += [" ".join(doc.split()) for node in nodes if (doc := ast.get_docstring(node))]
    return [text for text in texts if len(text) >= _SHORTEST_DOCUMENT]
