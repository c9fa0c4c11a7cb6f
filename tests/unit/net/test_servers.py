"""One server is one server, however its url is spelled."""

import pytest

from specbench.net.urls import server_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://localhost:8000", "http://127.0.0.1:8000/v1"),
        ("http://127.0.0.1:8000", "http://[::1]:8000/v1/"),
        ("http://127.0.0.1:8000", "http://0.0.0.0:8000"),
        ("http://127.0.0.1:8000", "http://[::ffff:127.0.0.1]:8000"),
        ("http://127.0.0.1:8000", "http://[::]:8000"),
        ("http://127.0.0.1:8000", "http://127.1:8000"),
        ("http://10.0.0.1:8000", "http://[::ffff:10.0.0.1]:8000"),
        ("http://h:80", "http://H"),
        ("https://h:443/v1", "HTTPS://h./"),
        ("http://h/a/v1", "http://h/a/"),
        ("http://[fe80::1]", "http://[fe80:0:0:0:0:0:0:1]:80"),
    ],
)
def test_two_spellings_of_one_server(one: str, other: str) -> None:
    """Case, this machine's names, the scheme's own port, `/v1` and a slash at the end."""
    assert server_of(one) == server_of(other)


@pytest.mark.parametrize(
    "other", ["http://h:8001", "https://h:8000", "http://g:8000", "http://h:8000/a", "http://h:8000/V1", "http://10.0.0.1:8000"]
)
def test_two_servers(other: str) -> None:
    """Another scheme, host, port or path."""
    assert server_of("http://h:8000") != server_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("http://base.localhost", "http://spec.localhost"), ("http://127.0.0.1:8000", "http://127.0.0.2:8000")],
)
def test_this_machine_may_hold_two_servers(one: str, other: str) -> None:
    """Virtual hosts behind one port, and two of its own addresses."""
    assert server_of(one) != server_of(other)
