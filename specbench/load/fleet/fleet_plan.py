"""What `--processes`, `--workers`, `--worker-wait` and `--listen` come to: who drives the load, and with which secret. Pure."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address

from specbench.errors import ScenarioError
from specbench.load.fleet.wire import JoinFleet
from specbench.units import s_of_span

KEY = "SPECBENCH_FLEET_KEY"
LEAST_KEY = 32
DEFAULT_LISTEN = "127.0.0.1:5557"
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "*": "127.0.0.1"}
MOST_WORKERS = 500
OWN_WAIT_S = 300.0  # processes of our own come in any case, on a busy machine late
MAKE_KEY = 'make one: export SPECBENCH_FLEET_KEY="$(openssl rand -hex 32)"'


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetOptions:
    """The options as they were given; `listen` None where it was not."""

    processes: int = 1
    workers: int = 0
    worker_wait: str = "60s"
    listen: str | None = None


ONE_PROCESS = FleetOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetPlan:
    """How many workers drive a run, where they come from, and the secret that they share.

    `here` are started on this machine; `elsewhere` are waited for at `host`:`port` (0: any free one), at most `wait_s`. `lanes`:
    how many blocks run at once, each with an equal part of the workers.
    """

    here: int
    elsewhere: int
    host: str
    port: int
    secret: str
    wait_s: float
    lanes: int = 1

    @property
    def workers(self) -> int:
        """How many in all."""
        return self.here + self.elsewhere

    def join_from_here(self, port: int) -> JoinFleet:
        """How a worker of this machine comes to the master."""
        return JoinFleet(host=EVERYWHERE.get(self.host, self.host), port=port, secret=self.secret, wait_s=self.wait_s)


def fleet_plan(options: FleetOptions, environment: Mapping[str, str], streams: int, at_once: bool) -> FleetPlan | None:
    """The fleet that these options ask for; None where one process of this machine does all.

    Args:
        streams: The most streams of a block.
        at_once: Whether two blocks run at the same time.

    Raises:
        ScenarioError: the options make no sense, or the key is missing or too short.
    """
    for name, count, least in (("--processes", options.processes, 1), ("--workers", options.workers, 0)):
        if not least <= count <= MOST_WORKERS:
            raise ScenarioError(f"{name} {count}: must be 1 to {MOST_WORKERS}")
    if options.processes == 1 and not options.workers:
        if options.listen is not None:
            raise ScenarioError("--listen: nobody is expected there; add --workers N")
        return None
    host, port = address_of(options.listen or DEFAULT_LISTEN, "--listen")
    here = options.processes if options.processes > 1 or not options.workers else 0
    count = here + options.workers
    if count > streams:
        raise ScenarioError(f"{_named(options, count)}: more than the {streams} streams of the largest load; ask for fewer")
    if at_once and count % 2:
        raise ScenarioError(f"{_named(options, count)}: `simultaneous` drives each arm with half of them; ask for an even number")
    shared = options.workers > 0 or not _is_private(host)
    return FleetPlan(
        here=here,
        elsewhere=options.workers,
        host=host,
        port=port if options.workers or options.listen is not None else 0,
        secret=fleet_key(environment, "--workers" if options.workers else f"--listen {options.listen}")
        if shared
        else drawn_key(),
        wait_s=wait_s(options.worker_wait, "--worker-wait") if options.workers else OWN_WAIT_S,
        lanes=2 if at_once else 1,
    )


def fleet_key(environment: Mapping[str, str], wanted_by: str) -> str:
    """The key that all of a fleet share.

    Raises:
        ScenarioError: it is not set, or too short.
    """
    key = environment.get(KEY, "").strip()
    if not key:
        raise ScenarioError(f"{wanted_by}: needs the environment variable {KEY}, the same for all workers; {MAKE_KEY}")
    if len(key) < LEAST_KEY:
        raise ScenarioError(f"{KEY}: has {len(key)} characters, at least {LEAST_KEY} are needed; {MAKE_KEY}")
    return key


def drawn_key() -> str:
    """A key for workers of this machine alone."""
    return secrets.token_hex(LEAST_KEY)


def wait_s(span: str, option: str) -> float:
    """The seconds of an option.

    Raises:
        ScenarioError: it is no span.
    """
    try:
        return s_of_span(span)
    except ValueError as error:
        raise ScenarioError(f"{option} {error}") from None


def address_of(text: str, option: str) -> tuple[str, int]:
    """Host and port of an address such as 0.0.0.0:5557.

    Raises:
        ScenarioError: it is no such address.
    """
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65_536 or set(host) & set("/@ "):
        raise ScenarioError(f"{option} {text}: write HOST:PORT, as in {DEFAULT_LISTEN}")
    return host, int(port)


def _named(options: FleetOptions, count: int) -> str:
    """The options that ask for so many."""
    if options.workers and count > options.workers:
        return f"--processes {options.processes} and --workers {options.workers}"
    return f"--workers {options.workers}" if options.workers else f"--processes {options.processes}"


def _is_private(host: str) -> bool:
    """Whether nobody outside this machine can reach it."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
