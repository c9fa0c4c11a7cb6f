"""The numbers by which answers are judged, each shared by a rule and a sentence.

Nothing is judged here. Where each number comes from: `docs/adr/0035`.
"""

GREEDY, SAMPLED, FORM = "answers_greedy", "answers_sampled", "answers_form"
ANSWERS = (GREEDY, SAMPLED, FORM)  # findings over the whole run, role safety
CONTRADICTS = "baseline_contradicts_itself"  # an integrity check

LEAST_PROMPTS = 64  # below it nothing passes
MOST_PROMPTS = 4096  # that a scenario may ask for
LEAST_RULER = 0.9  # share of greedy positions at which the baseline, asked, must put its own token first

# Greedy: a difference is clear where the baseline prefers another token by more than max(0.5, 1.5 × p99 of its own) nats.
CLEAR_NATS = 0.5
OWN_FACTOR = 1.5
OWN_QUANTILE = 0.99
MOST_CLEAR_NATS = 2.0
CLEAR_SHARE = 0.01  # of the answers may differ clearly in an honest engine
CLEAR_ALPHA = 0.005
MORE_ALPHA = 0.05  # of the test that they are more than those of the baseline itself
BLIND_FROM = 8  # differences: where all margins of so many are exactly 0, the engine tells no log probabilities

# Sampled: three two-sided tests on means over prompts.
SHIFT_ALPHA = 0.0025
LEAST_TOKENS = 16  # scored, in each answer
LEAST_SURPRISE, LEAST_RANK, LEAST_OUTSIDE = 0.01, 0.005, 0.002  # nats and shares: a smaller shift is none that matters
ALIKE_NATS = 0.05  # the 90 % interval of the shift must lie within, for a pass
REACH = 3.3 + 1.3  # standard errors of a shift found 9 times in 10

# Form: one test a mark, all of them one family.
FORM_ALPHA = 0.0025
LEAST_EXCESS = 0.01
FORM_MARGIN = 0.02  # or the baseline's own share of the mark, where that is more, but
WIDEST_FORM_MARGIN = 0.10  # at most this; answers that more often reach their limit in the baseline are no fault of an arm

LOOPING = "looping"
ALWAYS = ("looping", "foreign", "special_token")  # marks that any answer can have
