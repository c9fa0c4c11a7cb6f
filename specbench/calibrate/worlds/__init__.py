"""Worlds in which the rules of the verdict were not made, request by request: what may mislead a comparison of two arms.

A case (`world_case.py`; all of them in `noise_cases.py` and `event_cases.py`) is two arms in a world, and what is true of them.
`courses.py` says how slow each block is, `answering.py` answers the requests of one block, and `evidence.py` makes the facts of
a run of that, which the real judge is given. What is asked of the verdicts stands in `calibrate/world_rows.py`.
"""
