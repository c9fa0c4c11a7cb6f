"""Keys come from the environment by name, an empty one is no key, and none is left in what others say."""

import json

import pytest

from specbench.credentials import Secrets, escaped, key_header, one_line, printable, printable_line, secrets_in
from specbench.errors import ScenarioError
from tests.support.echoing import cores, forms


def test_a_key_becomes_a_bearer_header(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable's value, trimmed."""
    monkeypatch.setenv("SOME_KEY", " sk-1 \n")

    assert key_header("SOME_KEY", "here") == {"Authorization": "Bearer sk-1"}


@pytest.mark.parametrize("value", ["", "  "])
def test_an_empty_key_sends_no_header(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """`Bearer` without a key, or `Bearer None`, is refused by servers that want none."""
    monkeypatch.setenv("SOME_KEY", value)

    assert key_header("SOME_KEY", "here") == {}
    assert key_header(None, "here") == {}


def test_a_variable_that_is_not_set_is_named_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says who asked for which variable."""
    monkeypatch.delenv("SOME_KEY", raising=False)

    with pytest.raises(ScenarioError, match=r"arms.baseline.api_key_env: the environment variable SOME_KEY is not set"):
        key_header("SOME_KEY", "arms.baseline.api_key_env")


KEY = 'sk-Test/KEY+with=odd&chars"1234'


@pytest.mark.parametrize("form", forms(KEY))
def test_a_key_is_taken_out_in_every_form(form: str) -> None:
    """What is left has the length that it had, and no part of the key that the form's own core is."""
    text = f"said {forms(KEY)[form]} and more"

    left = Secrets((KEY,)).out_of(text)

    assert len(left) == len(text)
    assert (left.startswith("said "), left.endswith(" and more")) == (True, True)
    assert [name for name, core in cores(KEY).items() if core in left] == []
    assert "*" * 20 in left


def test_bytes_keep_their_offsets() -> None:
    """So that events of a body are where they were."""
    assert Secrets(("sk-1234567",)).out_of_bytes(b'{"a": "sk-1234567", "\xff": 1}') == b'{"a": "**********", "\xff": 1}'


@pytest.mark.parametrize(
    ("key", "text", "left"),
    [
        ("code", 'the code is "code"', 'the **** is "****"'),
        ("code", "encoded, vllm:code_total, code-1", "encoded, vllm:code_total, code-1"),
        ("abc", "abc", "abc"),
        ("sk-12345678", "xsk-12345678x", "x***********x"),
    ],
)
def test_a_short_key_goes_only_where_it_stands_alone(key: str, text: str, left: str) -> None:
    """A word that is used as a key is a word elsewhere; fewer than four characters protect nothing."""
    assert secrets_in([key]).out_of(text) == left


def test_the_longer_of_two_keys_goes_first() -> None:
    """One may begin as the other does."""
    assert Secrets(("key-abcdefgh", "key-abcdefgh-long")).out_of("key-abcdefgh-long") == "*" * 17


def test_the_passwords_of_proxies_are_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the environment names them, and as they are sent."""
    monkeypatch.setenv("HTTPS_PROXY", "http://me:pass%40word-1@proxy:3128")

    assert secrets_in(["Bearer sk-12345678"]).values == ("sk-12345678", "pass%40word-1", "pass@word-1")


def test_what_others_say_is_one_line_without_control_characters() -> None:
    """Colours, a title, C1 commands, text from right to left, line ends of all kinds."""
    assert one_line("a\x1b[31m\x9b2J\u202eb\r\nc\u2028d\x00") == "a [31m 2J b c d"
    assert one_line("x" * 1000, 10) == "x" * 10 + "…"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("::error::told", ": :error::told"),
        ("   ::stop-commands::x", "   : :stop-commands::x"),
        ("a ##[error]b ##vso[task.complete] ##teamcity[x]", "a # #[error]b # #vso[task.complete] # #teamcity[x]"),
        ("http://[::1]:8000 and a::b", "http://[::1]:8000 and a::b"),
        ("\x1b]8;;http://x\x07link", " ]8;;http://x link"),
    ],
)
def test_no_line_is_a_command_to_a_ci_system(line: str, shown: str) -> None:
    """GitHub takes what begins with two colons, after blanks too; older ones and others take it anywhere in a line."""
    assert printable(f"first\n{line}\nlast") == f"first\n{shown}\nlast"
    assert printable_line(f"first\n{line}") == (f"first {line}" if line.lstrip().startswith("::") else f"first {shown}")


def test_json_lets_no_control_character_stand() -> None:
    """Those that JSON itself allows are escaped, and mean the same."""
    text = json.dumps({"a": "\x9b2J\u202e\x7fé"}, ensure_ascii=False).encode()

    assert escaped(text) == b'{"a": "\\u009b2J\\u202e\\u007f' + "é".encode() + b'"}'
    assert json.loads(escaped(text)) == json.loads(text)
