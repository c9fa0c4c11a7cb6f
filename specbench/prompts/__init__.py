"""From text at hand to prompts of asked lengths: `corpora` finds the text, `pieces` measures it, `draw` cuts the prompts."""
