"""From facts to verdict, pure: `arrays` → `metrics` → `comparison` → `verdict`, composed by `judge.py`."""
