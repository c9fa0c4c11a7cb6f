"""Whether the measurement can be trusted: one function a check."""
