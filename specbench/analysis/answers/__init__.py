"""Whether speculation changes what the model says: three findings over a whole run, from pairs of answers to one prompt."""
