"""Which speculation setting to run at each load: candidates measured beside the baseline, picks, and a run that confirms them.

`candidates.py` says what is tried, `starts.py` measures one start of one candidate, `tuning.py` is the main job, `picks.py` turns
what is on disk into picks, and `confirming.py` makes of a pick or a cap the scenario of an ordinary run.
"""
