"""Plain values as YAML that people read: keys in their order, long strings folded, remarks as comments above."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

WIDTH = 130


class _Block(yaml.SafeDumper):
    """Sequences are indented below their key, as people write them."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def yaml_text(value: Mapping[str, Any], remarks: Sequence[str] = ()) -> str:
    """The value as one document; each remark is a comment of one line or more."""
    head = "".join(f"# {line}\n" for remark in remarks for line in remark.splitlines())
    return head + yaml.dump(value, Dumper=_Block, sort_keys=False, width=WIDTH, allow_unicode=True)
