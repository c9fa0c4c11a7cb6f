"""The embedded engine: real speculative sampling over small language models on a virtual accelerator.

It serves an OpenAI-compatible API as a program of its own: nothing of specbench imports it but its command, and it knows
nothing of scenarios, load or analysis.
"""
