"""An address can be asked, or one line says why not; what may be a password is not in it."""

import pytest

from specbench.analysis.hosts.equivalence import place_by_address
from specbench.doctor import doctor
from specbench.errors import ScenarioError
from specbench.net.proxies import proxy_of
from specbench.net.urls import address_fault, check_address, is_loopback, without_secrets
from specbench.probe.probe import ProbeRequest, probe
from tests.support.evidence import a_manifest, a_scenario, an_arm


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:8000", "https://gpu.example", "http://[::1]:8000/v1", "http://gpu/v1/models/a@b", "https://gpu:65535/"],
)
def test_an_address_is_a_host_behind_http(address: str) -> None:
    """With or without a port and a path; an @ behind the host is the path's."""
    assert address_fault(address) is None


@pytest.mark.parametrize(
    ("address", "fault"),
    [
        ("gpu:8000", "must start with http:// or https:// and a host"),
        ("ftp://gpu", "must start with http://"),
        ("http://", "must start with http:// or https:// and a host"),
        ("http://me:secret@gpu", "must not hold a user name or password"),
        ("http://me@gpu", "must not hold a user name or password"),
        ("http://gpu/v1?key=sk-1", "must not hold ? or #; name the environment variable of a key instead"),
        ("http://gpu?x=1", "must not hold ? or #"),
        ("http://gpu/v1#sk-1", "must not hold ? or #"),
        ("http://gpu:99999", "is no address"),
        ("http://gpu:0", "is no address"),
        ("http://gpu:8000,http://gpu:8001", "is no address"),
        ("http://[::1", "is no address"),
        ("http://a b", "is no address"),
    ],
)
def test_what_cannot_be_asked_says_why(address: str, fault: str) -> None:
    """The end of a sentence."""
    assert str(address_fault(address)).startswith(fault)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://gpu:8000/v1", "http://gpu:8000/v1"),
        ("http://me:secret@gpu:8000", "http://…@gpu:8000"),
        ("http://me:sec/ret@gpu", "http://…@gpu"),
        ("http://me:sec@ret@gpu", "http://…@gpu"),
        ("me:secret@gpu", "…@gpu"),
        ("http://gpu/v1?key=sk-1#a", "http://gpu/v1?…"),
        ("http://gpu/#sk-1", "http://gpu/#…"),
        ("gpu?", "gpu?"),
    ],
)
def test_what_may_be_a_secret_is_not_shown(address: str, shown: str) -> None:
    """Whatever stands before an @ or behind a ? or #, also where the address is broken."""
    assert without_secrets(address) == shown


def test_one_page_may_have_a_query_and_an_endpoint_may_not() -> None:
    """No path is put at the end of a page; what stands behind a # is never sent."""
    assert address_fault("http://gpu/metrics?job=a", page=True) is None
    assert str(address_fault("http://gpu/metrics#a", page=True)).startswith("must not hold #;")


@pytest.mark.parametrize(
    "address",
    [
        "http://me:secret@127.0.0.1:1",
        "http://me:sec/secret@127.0.0.1",
        "me:secret@127.0.0.1",
        "http://127.0.0.1:1/v1?key=secret",
        "http://127.0.0.1:1/#secret",
    ],
)
def test_probe_and_doctor_refuse_a_login_or_a_query_without_repeating_it(address: str) -> None:
    """Before anything is asked."""
    order = ProbeRequest(url=address, model="m", concurrency=1, requests=1, max_tokens=1)
    for ask in (lambda: check_address(address), lambda: doctor(address), lambda: probe(order)):
        with pytest.raises(ScenarioError, match="give an endpoint's address, such as") as refused:
            ask()
        assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "127.0.0.2", "localhost", "LOCALHOST", "localhost.", "spec.localhost", "::1", "[::1]"),
        *("0.0.0.0", "::", "[::]", "::ffff:127.0.0.1", "[::ffff:127.0.0.1]", "::ffff:0.0.0.0", "0:0:0:0:0:0:0:1"),
        *("127.1", "0", "0x7f.0.0.1", "ip6-localhost", "localhost.localdomain"),
    ],
)
def test_this_machine_by_any_spelling_is_one_answer(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """N-34: no proxy on the way, and two arms at such addresses are in one place."""
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example.com:3128")
    spelled = f"[{host}]" if ":" in host and not host.startswith("[") else host
    arms = [an_arm(f"http://{spelled}:{port}") for port in (8001, 8002)]

    assert is_loopback(host)
    assert proxy_of(f"http://{spelled}:8000") is None
    assert place_by_address(a_manifest(a_scenario([1], baseline=arms[0], speculative=arms[1])))


@pytest.mark.parametrize("host", ["10.0.0.1", "gpu", "localhost.example", "::ffff:10.0.0.1", "128.1", "1.0.0.127", "fe80::1", ""])
def test_another_machine_is_none_of_ours(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where its name begins like ours."""
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example.com:3128")

    assert not is_loopback(host)
    if host:
        spelled = f"[{host}]" if ":" in host else host
        assert proxy_of(f"http://{spelled}:8000") is not None
