"""Keys come from environment variables, by name; nothing else here, and no key is ever written anywhere."""

import os

from specbench.errors import ScenarioError


def key_header(variable: str | None, where: str) -> dict[str, str]:
    """The header that carries the key of the environment variable; none where no variable is named or it is empty.

    Raises:
        ScenarioError: the variable is not set; `where` says who names it.
    """
    key = "" if variable is None else secret(variable, where)
    return {"Authorization": f"Bearer {key}"} if key else {}


def secret(variable: str, where: str) -> str:
    """What the environment variable holds, without white space around it.

    Raises:
        ScenarioError: the variable is not set; `where` says who names it.
    """
    held = os.environ.get(variable)
    if held is None:
        raise ScenarioError(f"{where}: the environment variable {variable} is not set; export it first")
    return held.strip()
