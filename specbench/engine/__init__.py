"""The embedded engine: real speculative sampling over small language models on a virtual accelerator.

It serves an OpenAI-compatible API as a program of its own: only the commands and the simulated clock of `calibrate/` import it,
and it knows nothing of scenarios, load or analysis.
"""
