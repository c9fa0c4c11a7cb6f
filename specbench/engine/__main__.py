"""`python -m specbench.engine '{"port": 8000}'`: one embedded engine from a JSON object of options.

Parsing of that one argument only.
"""

import json
import sys

from specbench.engine.http.server import serve
from specbench.engine.options import options_of
from specbench.errors import ScenarioError, SpecbenchError


def main(arguments: list[str]) -> int:
    """Serves until told to end; the exit code of the error that prevented it otherwise."""
    try:
        try:
            mapping = json.loads(arguments[0]) if arguments else {}
        except ValueError as error:
            raise ScenarioError(f"the engine's options must be one JSON object: {error}") from None
        if not isinstance(mapping, dict) or len(arguments) > 1:
            raise ScenarioError("the engine's options must be one JSON object in one argument")
        serve(options_of(mapping))
    except SpecbenchError as error:
        sys.stderr.write(f"specbench engine: {error}\n")
        return int(error.exit_code)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
