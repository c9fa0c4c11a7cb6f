"""From facts to verdict, pure: `columns` → `metrics` → `compare` → `findings` → `verdict`, composed by `judge`."""
