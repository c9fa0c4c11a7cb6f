"""One answer, from the socket to its record: `transport` is the socket and the only clock, `record` and below are pure.

What an engine means by its counters is in `telemetry/`; what the numbers mean is in `analysis/`.
"""
