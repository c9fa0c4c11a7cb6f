"""How many accelerators this machine has, by the files of their devices: with two of them one machine is two places."""

import re
from collections.abc import Iterable
from pathlib import Path

# NVIDIA, Intel Gaudi and TPU, AWS Neuron, Ascend; AMD GPUs are render nodes where the compute driver is there.
_DEVICES = re.compile(r"nvidia\d+|accel\d+|neuron\d+|davinci\d+")
_RENDER_NODES = re.compile(r"renderD\d+")


def accelerators(devices: Path = Path("/dev")) -> int:
    """The number of accelerators among these devices; 0 where there is none, or none that is known here."""
    found = sum(1 for name in _names(devices) if _DEVICES.fullmatch(name))
    found += sum(1 for name in _names(devices / "accel") if _DEVICES.fullmatch(name))
    if (devices / "kfd").exists():
        found += sum(1 for name in _names(devices / "dri") if _RENDER_NODES.fullmatch(name))
    return found


def _names(folder: Path) -> Iterable[str]:
    try:
        return [entry.name for entry in folder.iterdir()]
    except OSError:
        return []
