"""From arrays to the figures of one arm, one function a metric."""
