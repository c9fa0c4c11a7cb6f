"""Scenario files as text: where a key stands, what was meant by a misspelt one, and a workload written as YAML."""
