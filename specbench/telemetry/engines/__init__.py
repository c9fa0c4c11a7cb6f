"""One module an engine: how its stream counts, what it reports, how it is recognised."""
