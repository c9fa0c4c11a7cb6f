"""What looks like a secret is told by its name; what only resembles one passes."""

import pytest

from specbench.scenario.text.secret_detection import has_secret_query, is_secret_name, secret_word


@pytest.mark.parametrize(
    "header",
    [
        *("Authorization", "Proxy-Authorization", "X-Auth", "X-Api-Key", "api_key", "Ocp-Apim-Subscription-Key", "X-Token"),
        *("Cookie", "X-Client-Secret", "x.password", "X-Credential", "X-Signature"),
        *("X-JWT-Assertion", "X-Access-Tokens", "X-Bearer", "X-Functions-Key", "X-Auth-Token", "X-Secret-Id"),
    ],
)
def test_a_header_with_a_secret(header: str) -> None:
    """Whatever separates its words."""
    assert is_secret_name(header)


@pytest.mark.parametrize(
    "header",
    [
        *("X-Team", "X-Max-Tokens", "X-Tokenizer", "X-Author", "X-Authority", "X-Tenant-Id", "Accept", "X-Keyspace", "X-Monkey"),
        *("Idempotency-Key", "X-Routing-Key", "X-Cache-Key", "X-Token-Count", "X-Token-Budget"),
    ],
)
def test_a_header_without_one(header: str) -> None:
    """Counts of tokens, names of authors and keys that route are no secrets."""
    assert not is_secret_name(header)


@pytest.mark.parametrize(
    ("words", "carrier"),
    [
        (["vllm", "--api-key", "sk-1"], "--api-key"),
        (["--api_key=sk-1"], "--api_key"),
        (["--apikey", "sk-1"], "--apikey"),
        (["--api-keys", "sk-1", "sk-2"], "--api-keys"),
        (["--admin-api-key", "sk-1"], "--admin-api-key"),
        (["--hf-token", "hf_1"], "--hf-token"),
        (["-hft", "hf_1"], "-hft"),
        (["--ssl-keyfile-password", "a"], "--ssl-keyfile-password"),
        (["sh", "-c", "exec vllm serve --api-key 'sk-1'"], "--api-key"),
        (["sh", "-c", "HF_TOKEN='hf_1' vllm serve m"], "HF_TOKEN"),
        (["docker", "run", "-e", "HF_TOKEN=hf_1"], "HF_TOKEN"),
        (["docker", "run", "--env=HF_TOKEN=hf_1"], "HF_TOKEN"),
        (["docker", "run", "-e", "hf_token=hf_1"], "hf_token"),
        (["vllm", "--api-key", "/9j4AAQ"], "--api-key"),
        (["proxy", "--header", "Authorization: Bearer sk-1"], "Bearer"),
        (["proxy", "http://me:sk-1@h/"], "the address"),
        (["serve", "--config", '{"api_key": "sk-1"}'], "JSON"),
    ],
)
def test_a_command_with_a_secret_is_told_by_what_carries_it(words: list[str], carrier: str) -> None:
    """Never by the secret itself."""
    assert secret_word(words) == carrier


@pytest.mark.parametrize(
    "words",
    [
        *(["--max-num-batched-tokens", "8192"], ["--num-speculative-tokens", "3"], ["--speculative-num-draft-tokens", "4"]),
        *(["--max-total-tokens", "4096"], ["--tokenizer", "t"], ["--tokenizer-mode=auto"], ["--speculative-token-map", "m"]),
        *(["--eos-token", "2"], ["--experts-per-token", "2"], ["MAX_TOKENS=5"], ["--cache-type-k", "q8_0"], ["-ngl", "99"]),
        *(["--api-key-env", "NAME"], ["--api-key-file", "f"], ["--hf-token-path", "p"], ["--ssl-keyfile", "f"]),
        *(["--tls-key", "/etc/tls/a.key"], ["--allow-credentials"], ["--allow-credentials", "--port", "1"], ["--auth", "off"]),
        *(["--no-auth", "m"], ["--enable-auth", "m"], ["--require-auth", "8000"], ["--reasoning-start-token", "<think>"]),
        *(["--begin-token", "<s>"], ["--sort-key", "x"], ["--hash-key", "12"], ["--api-key", "EMPTY"], ["--max-token", "5"]),
        *(["--api-key", "`cat f`"], ["--hf-overrides", '{"eos_token": "</s>"}'], ["--header", "Authorization: Bearer $KEY"]),
        *(["sh", "-c", 'vllm serve m --api-key "$VLLM_API_KEY"'], ["sh", "-c", "HF_TOKEN=$HF_TOKEN vllm serve m"]),
    ],
)
def test_a_command_without_one(words: list[str]) -> None:
    """Counts of tokens, files, switches, and flags that name a variable."""
    assert secret_word(words) is None


@pytest.mark.parametrize(
    ("address", "secret"),
    [
        ("http://h/m?key=sk-1", True),
        ("http://h/m?a=1&api%5Fkey=sk-1", True),
        ("http://h/m?a=1;token", True),
        ("http://h/m?sig=a", True),
        ("http://h/m?job=a", False),
        ("http://h/m?max_tokens=4", False),
        ("http://h/m?sort_key=a&monkey=x", False),
        ("http://h/key", False),
    ],
)
def test_a_query_with_a_secret(address: str, secret: bool) -> None:
    """Its keys tell; the path does not."""
    assert has_secret_query(address) is secret
