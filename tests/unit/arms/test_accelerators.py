"""How many accelerators a machine has."""

from pathlib import Path

import pytest

from specbench.arms.accelerators import accelerators


@pytest.mark.parametrize(
    ("names", "count"),
    [
        ((), 0),
        (("null", "nvidiactl", "nvidia-uvm", "dri/renderD128"), 0),  # a display without a compute driver is none
        (("nvidiactl", "nvidia0"), 1),
        (("nvidia0", "nvidia1", "nvidia12"), 3),
        (("kfd", "dri/renderD128", "dri/renderD129", "dri/card0"), 2),
        (("accel/accel0", "accel/accel1"), 2),
        (("neuron0",), 1),
    ],
)
def test_the_files_of_devices_are_counted(names: tuple[str, ...], count: int, tmp_path: Path) -> None:
    """By their makers' names for them."""
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    assert accelerators(tmp_path) == count


def test_a_machine_without_device_files_has_none(tmp_path: Path) -> None:
    """A sandbox, or another system."""
    assert accelerators(tmp_path / "nowhere") == 0
