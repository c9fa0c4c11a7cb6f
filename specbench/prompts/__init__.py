"""From text to prompts of given lengths: `corpora` finds the text, `token_estimate` measures it, `sampler` cuts prompts."""
