"""What the processes of a fleet are started with."""

from specbench.load.fleet.worker_processes import without_keys


def test_no_key_of_the_environment_reaches_a_worker() -> None:
    """Whatever it is called; what Python, TLS and proxies need does."""
    given = {
        "VLLM_KEY": "secret",
        "SPECBENCH_FLEET_KEY": "secret",
        "OPENAI_API_KEY": "secret",
        "PATH": "/bin",
        "PYTHONPATH": "x",
        "SSL_CERT_FILE": "y",
        "SPECBENCH_CLIENT_CERT": "z",
        "https_proxy": "http://proxy:3128",
    }

    assert without_keys(given) == {name: value for name, value in given.items() if value != "secret"}
