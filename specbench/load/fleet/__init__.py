"""Many generator processes, here or on other machines, on Locust's own master and workers (docs/fleet.md).

Pure: `dealing`, `numbered`, `clock_offsets`, `ledger`, `fleet_plan`, `wire`. In processes of their own: `master` with `course`
and `member`, `reader`, `sealed` (Locust and gevent), `worker` (decodes). The parent's side: `fleet`, `worker_processes`.
"""
