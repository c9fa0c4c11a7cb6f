"""The integrity checks: what each one asks, and what to do where it fails."""

from specbench.explain.glossary.entry import Entry

_PROCESSES = "Run fewer streams per process, or more processes."


def _check(name: str, title: str, text: str, fix: str = "") -> Entry:
    return Entry("check", name, title, text, fix)


CHECKS: tuple[Entry, ...] = (
    _check(
        "arms_equal",
        "the arms differ in more than speculation",
        "Model, revision, tokenizer, quantization, engine and other facts that both endpoints report are equal.",
        "Make them equal, or accept the difference by name (accept_differences).",
    ),
    _check(
        "not_declared",
        "facts that could not be compared",
        "At least one endpoint does not report these facts and the scenario does not declare them. It never fails.",
        "Declare them under `declare:` of each arm.",
    ),
    _check(
        "not_speculating",
        "the speculative arm does not speculate",
        "Over the whole run the speculative arm shows a sign of speculation: drafts, or steps of several tokens.",
        "Check that server's speculative configuration, and that its URL is not the baseline's.",
    ),
    _check(
        "speculation_speculative",
        "the speculative arm does not speculate throughout",
        "The speculative arm drafts in every block, unless a declared schedule turns speculation off at this load.",
        "Check that server's speculative configuration, or declare the schedule (speculative.off_from).",
    ),
    _check(
        "setting_in_effect",
        "the engine ignores its table by batch size",
        "Where a table by batch size is declared, rounds draft about as many tokens as it says for this load, and not the most.",
        "Check the engine's log: vLLM drops the table under data parallelism.",
    ),
    _check(
        "speculation_baseline",
        "the baseline speculates",
        "The baseline drafts in no block.",
        "Start the baseline without speculation.",
    ),
    _check(
        "merged_events",
        "events were read together",
        "At most 1 % of the gaps lack a time of their own because the client read several events at once.",
        _PROCESSES,
    ),
    _check(
        "read_lag",
        "how late the client read",
        "The delay from arrival to reading. It never fails: the kernel stamps arrivals.",
    ),
    _check(
        "send_delay",
        "requests were sent late",
        "1 in 20 requests leaves at most 5 ms late on average over the blocks, or 1 % of an answer in a closed loop.",
        _PROCESSES,
    ),
    _check(
        "client_saturated",
        "the client ran out of CPU",
        "The client's own core is busy at most 90 % of the time.",
        _PROCESSES,
    ),
    _check(
        "achieved_concurrency",
        "the load was not held",
        "In the emptiest block, at least 95 % of the requested streams are in flight.",
        _PROCESSES,
    ),
    _check(
        "machine_busy",
        "how busy the client's machine was",
        "CPU use of the whole machine, and how late the client's event loop woke. It never fails.",
    ),
    _check(
        "clock_step",
        "the machine's clock was set",
        "The clock is set during at most 1 % of the answers.",
        "Stop the time service that steps the clock, then rerun.",
    ),
    _check(
        "workers_held",
        "the workers of the fleet did not hold",
        "At most a tenth of the pairs were measured again because a worker was lost. Only with several processes.",
        "Keep the workers' machines and the network between them up.",
    ),
    _check(
        "clocks_agree",
        "the clocks of the workers disagree",
        "Each worker's clock is known within 5 ms of the master's, drift included. Only with several processes.",
        "Use a quicker network between the workers, or stop the service that steps a clock.",
    ),
    _check(
        "counter_reset",
        "an engine's counters were reset",
        "No engine restarts under load, and no metrics page is shared by several replicas.",
        "List each replica in `metrics_url`, or find out why the engine restarted.",
    ),
    _check(
        "foreign_traffic",
        "an endpoint served other traffic",
        "At most 5 % of the tokens that an engine generated belong to requests of somebody else.",
        "Keep other traffic away from both endpoints.",
    ),
    _check(
        "cache_imbalance",
        "the prefix caches differ",
        "The arms' prefix caches serve shares of the prompts that lie within 5 points.",
        "Salt the prompts, reset the caches, or alternate the arms.",
    ),
    _check(
        "same_prompts",
        "the prompts differ between the arms",
        "Both arms get the same prompts with the same bin, sampling and token limit.",
        "Run again. If it stays, check the limits on the context of both endpoints.",
    ),
    _check(
        "prompt_tokens",
        "the arms count prompt tokens differently",
        "Both endpoints count the tokens of the same prompts within 2 %.",
        "Use the same tokenizer and chat template in both arms.",
    ),
    _check(
        "excess_looping",
        "answers loop in the baseline",
        "Looping answers are no more frequent in the baseline, by more than 2 points and chance. Else: `answers_form`.",
        "Compare the answers of both arms: they did different work.",
    ),
    _check(
        "baseline_contradicts_itself",
        "the baseline contradicts its own answers",
        "The baseline, asked, prefers another token by 2 nats in no more of its own greedy answers than 1 % explains.",
        "Check its prefix cache and its batching: it is no reference as it is.",
    ),
    _check(
        "excess_truncated",
        "answers break off in one arm",
        "Truncated answers are no more frequent in one arm than in the other, by more than 2 points and chance.",
        "Compare the limits and timeouts of both endpoints.",
    ),
    _check(
        "excess_empty",
        "answers are empty in one arm",
        "Empty answers are no more frequent in one arm than in the other, by more than 2 points and chance.",
        "Compare the chat templates and stop tokens of both endpoints.",
    ),
    _check(
        "pairs_present",
        "too few pairs were measured",
        "At least four fifths of the planned pairs are measured.",
        "Read the failures of the blocks that are missing, then rerun.",
    ),
    _check(
        "steady_baseline",
        "the baseline was not in a steady state",
        "TPOT changes from the first half of a block to the second by at most half of the smallest margin, chance aside.",
        "Let blocks warm up longer (matrix.block).",
    ),
    _check(
        "steady_speculative",
        "the speculative arm was not in a steady state",
        "TPOT changes from the first half of a block to the second by at most half of the smallest margin, chance aside.",
        "Let blocks warm up longer (matrix.block).",
    ),
    _check(
        "slows_within_blocks",
        "one arm slows down under load",
        "TPOT of both arms changes alike from the first half of a block to the second. If not, the load does not pass.",
        "Use longer blocks (matrix.block), so that the steady speed is measured.",
    ),
    _check(
        "carry_over",
        "the leading arm affects the other one",
        "The level of a pair does not depend on which arm ran before.",
        "Leave more time between blocks, or use `schedule: restart`.",
    ),
    _check(
        "arrivals_kept",
        "the arrivals were not kept up with",
        "Requests of an open loop leave at the time at which they are due.",
        "Lower the rate, or raise the limit on requests in flight.",
    ),
    _check(
        "body_fields",
        "the request bodies differ between the arms",
        "Both arms get the same fields in the body of a request.",
        "Set the same `extra_body` in both arms.",
    ),
)
