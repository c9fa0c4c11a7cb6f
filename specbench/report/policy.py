"""The result as a routing policy: which traffic may go to the speculative arm, up to what load. Nothing is decided here."""

import json
from typing import Any

from specbench.model.judged import Result


def policy(result: Result) -> str:
    """The policy as JSON."""
    return json.dumps(policy_of(result), indent=2, ensure_ascii=False) + "\n"


def policy_of(result: Result) -> dict[str, Any]:
    """The routing policy that a result supports: which slices may go to the speculative arm, up to what load; the rest may not.

    A router that reads it needs no other field. `default` is the arm for all traffic that no entry of `enable` names.
    """
    whole = result.verdict in ("PROMOTE", "CAPPED")
    entries = (
        [
            (part.bin, part.sampling, part.enable_range, part.rate_range)
            for part in result.slices
            if part.verdict in ("PROMOTE", "CAPPED")
        ]
        if result.slices
        else [(None, None, result.enable_range, result.rate_range)]
    )
    return {
        "schema_version": 1,
        "run": result.run.id,
        "verdict": result.verdict,
        "default": "baseline",
        "enable": [
            {
                "bin": bin_name,
                "sampling": sampling,
                "max_streams": None if closed is None else closed.max_concurrency,
                "max_requests_per_second": None if opened is None else opened.max_concurrency,
                "running_at_cap": None if closed is None else closed.running_at_cap,
                "proposal": any(span is not None and span.beyond is not None for span in (closed, opened)),
            }
            for bin_name, sampling, closed, opened in (entries if whole else [])
        ],
    }
