"""Many generator processes, here or on other machines, on Locust's master and workers: docs/fleet.md.

Pure: `dealing`, `numbered`, `clock_offsets`, `ledger`, `merged_health`, `wire`. At the edge: `sealed`, `master` and `reader` (Locust and
gevent), `worker` (decodes), `fleet` (the parent's side).
"""
