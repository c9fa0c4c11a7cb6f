"""The training text: what any Python installation carries, its library's source and the language reference.

No tokens and no model here. Texts differ between Python versions, so the same seed gives the same answers per version only.
"""

import importlib.util
import random
import re
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path

from specbench.errors import ScenarioError

# Tests, tables and other people's packages are no text that a reader would take for a program.
SKIPPED = frozenset(
    {
        "test",
        "tests",
        "site-packages",
        "dist-packages",
        "idlelib",
        "lib2to3",
        "pydoc_data",
        "encodings",
        "turtledemo",
        "__pycache__",
    }
)
ORDER_SEED = 7
TOP_LEVEL = re.compile(rb"\n(?=@|def |class |async def )")
DOCSTRING = re.compile(rb'^[ ]*[rR]?"""(.{400,}?)"""', re.DOTALL | re.MULTILINE)
INDENT = re.compile(rb"\n[ ]+")


def python_documents() -> Iterator[bytes]:
    """The top-level blocks of the standard library's modules; the end of a block is where an answer may end."""
    for source in _sources():
        yield from TOP_LEVEL.split(source)


def prose_documents() -> Iterator[bytes]:
    """English about Python: the reference's topics where this installation has them, then the library's longer docstrings."""
    if importlib.util.find_spec("pydoc_data") is not None:
        from pydoc_data.topics import topics

        for name in sorted(topics):
            yield topics[name].encode()
    for source in _sources():
        for match in DOCSTRING.finditer(source):
            yield INDENT.sub(b"\n", match.group(1).strip())


CORPORA: dict[str, Callable[[], Iterator[bytes]]] = {"python": python_documents, "prose": prose_documents}


def _sources() -> Iterator[bytes]:
    library = Path(sysconfig.get_paths()["stdlib"])
    paths = [path for path in sorted(library.rglob("*.py")) if SKIPPED.isdisjoint(path.relative_to(library).parts)]
    if not paths:
        raise ScenarioError(
            f"the embedded engine learns from Python's own source, and {library} holds none; install the full standard library"
        )
    # Mixed, so that a bound on the training size does not mean "modules that begin with a".
    random.Random(ORDER_SEED).shuffle(paths)
    for path in paths:
        yield path.read_bytes()
