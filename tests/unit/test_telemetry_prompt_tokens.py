"""One source of prompt tokens for all requests, and a warning where tokenizers disagree."""

from specbench.telemetry.prompt_tokens import PromptTokens, prompt_tokens


def test_the_server_s_count_is_used_and_the_ratio_is_told() -> None:
    """D-08: 1000 counted here, 1480 there."""
    assert prompt_tokens([1000], [1480]) == PromptTokens(
        counts=(1480,),
        source="server",
        ratio=1.48,
        warning="the server counts 1.48 times the prompt tokens that the client does: the server's counts are used",
    )


def test_sources_are_never_mixed() -> None:
    """One answer without usage, and the client's count holds for all."""
    found = prompt_tokens([1000, 500], [1480, None])

    assert (found.counts, found.source, found.ratio) == ((1000, 500), "client", 1.48)
    assert found.warning is not None


def test_a_template_s_few_tokens_are_no_disagreement() -> None:
    """12 tokens of a chat template on 200."""
    assert prompt_tokens([200], [212]) == PromptTokens(counts=(212,), source="server", ratio=1.06, warning=None)


def test_without_any_usage_there_is_no_ratio() -> None:
    """And no warning about what nobody knows."""
    assert prompt_tokens([200], [None]) == PromptTokens(counts=(200,), source="client", ratio=None, warning=None)
    assert prompt_tokens([], []).source == "client"
