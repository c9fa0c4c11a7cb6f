"""What every word, metric, state, check, flag and code means: the source of `specbench explain` and of docs/glossary.md."""
