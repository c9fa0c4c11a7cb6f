"""The result as a routing policy: which traffic may go to the speculative arm, up to what load. Nothing is decided here."""

import json
from typing import Any

from specbench.model.result import LoadRange, Result


def policy(result: Result, allow_capped: bool = False) -> str:
    """The policy as JSON."""
    return json.dumps(policy_of(result, allow_capped), indent=2, ensure_ascii=False) + "\n"


def policy_of(result: Result, allow_capped: bool = False) -> dict[str, Any]:
    """The routing policy that a result supports: which slices may go to the speculative arm, up to what load; the rest may not.

    A router that reads it needs no other field than `default` and `enable`: `default` is the arm for all traffic that no entry of
    `enable` names. A cap that no run has confirmed is a proposal and stands under `proposed`, unless `allow_capped` takes it.
    What `specbench confirm` confirmed has its `setting` and `confirmed_by`.
    """
    whole = result.verdict in ("PROMOTE", "CAPPED")
    spans = (
        [
            (part.bin, part.sampling, part.enable_range, part.rate_range)
            for part in result.slices
            if part.verdict in ("PROMOTE", "CAPPED")
        ]
        if result.slices
        else [(None, None, result.enable_range, result.rate_range)]
    )
    entries = [_entry(*span) | _confirmed(result) for span in (spans if whole else [])]
    return {
        "schema_version": 1,
        "run": result.run.id,
        "verdict": result.verdict,
        "default": "baseline",
        "enable": [entry for entry in entries if allow_capped or not entry["proposal"]],
        "proposed": [entry for entry in entries if entry["proposal"] and not allow_capped],
    }


def _confirmed(result: Result) -> dict[str, str | float | bool | None]:
    """The setting that this run confirmed, and as which run; nothing where it confirmed none."""
    asked = result.run.confirms
    if asked is None or result.verdict != "PROMOTE":
        return {}
    return {"setting": asked.setting, "enforced_by": asked.enforced_by, "confirmed_by": result.run.id}


def _entry(
    bin_name: str | None, sampling: str | None, closed: LoadRange | None, opened: LoadRange | None
) -> dict[str, str | float | bool | None]:
    return {
        "bin": bin_name,
        "sampling": sampling,
        "max_streams": None if closed is None else closed.high,
        "max_requests_per_second": None if opened is None else opened.high,
        "running_at_cap": None if closed is None else closed.running_at_cap,
        "proposal": any(span is not None and span.beyond is not None for span in (closed, opened)),
    }
