"""The scenarios that travel with the program: in its wheel, or in the checkout that it runs from."""

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
# A wheel has them inside the package, a checkout beside it.
_FOLDERS = (_PACKAGE / "scenarios", _PACKAGE.parent / "scenarios")


def shipped_scenarios() -> tuple[Path, ...]:
    """Their files, by name; none where neither folder is there."""
    folder = next((one for one in _FOLDERS if one.is_dir()), None)
    return () if folder is None else tuple(sorted(folder.glob("*.yaml")))


def shipped_file(name: str) -> Path | None:
    """The file of that name among them; None where there is none."""
    return next((one for one in shipped_scenarios() if one.name == name), None)


def shipped_scenario(named: Path) -> Path | None:
    """The file that stands for a name such as `code` or `scenarios/code.yaml` which is no file here; None for other names."""
    if named.exists():
        return None
    alone = len(named.parts) == 1 and not named.suffix
    if not alone and (len(named.parts) != 2 or named.parts[0] != "scenarios"):
        return None
    return shipped_file(named.name if named.suffix else f"{named.name}.yaml")
