"""What a scenario asks for, parsed and frozen. No defaults are computed here: `parse.py` fills every field."""

from dataclasses import dataclass, field
from typing import Any, Literal

from specbench.model.answers.answer_form import ValidRule
from specbench.model.data.datasets import DatasetReading
from specbench.model.tuning.tune_values import Confirmation, TunePlan

ArmName = Literal["baseline", "speculative"]
ARMS: tuple[ArmName, ArmName] = ("baseline", "speculative")

Role = Literal["success", "guardrail", "safety", "advisory"]
DECIDING: tuple[Role, Role] = ("guardrail", "safety")  # the roles that can turn speculation down
Traffic = Literal["mixed", "separate"]
Schedule = Literal["alternate", "simultaneous", "restart"]
Length = Literal["natural", "forced"]
Route = Literal["chat", "completions"]
History = Literal["dataset", "own"]
Design = Literal["plain", "aa", "swap"]

# Variables by which an engine is told which devices are its own: they belong to a place, as `Launch.gpu` does.
DEVICE_VARIABLES = frozenset(
    {
        "ASCEND_RT_VISIBLE_DEVICES",
        "CUDA_VISIBLE_DEVICES",
        "GGML_VK_VISIBLE_DEVICES",
        "GPU_DEVICE_ORDINAL",
        "HABANA_VISIBLE_MODULES",
        "HIP_VISIBLE_DEVICES",
        "NEURON_RT_VISIBLE_CORES",
        "NVIDIA_VISIBLE_DEVICES",
        "ONEAPI_DEVICE_SELECTOR",
        "ROCR_VISIBLE_DEVICES",
        "TPU_VISIBLE_CHIPS",
        "ZE_AFFINITY_MASK",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How specbench starts an engine: `{port}` in the command stands for `port`, or for a free one where that is None.

    `env` is added to the environment, `secrets` names variables that must be set in it. `ready` is the path that answers 200
    once the engine serves, `log` the file for what it prints (None: one in the run folder). `sleep`: vLLM's sleep mode lets the
    engine give up the accelerator while the other arm is under load.
    """

    command: tuple[str, ...]
    env: dict[str, str]
    secrets: tuple[str, ...]
    gpu: str | None
    port: int | None
    ready: str
    timeout_s: float
    log: str | None
    sleep: bool = False


@dataclass(frozen=True, kw_only=True)
class Asking:
    """How an endpoint is asked: at which path (None: the usual one), by which name its tokens are limited, with which fields
    besides; a field of None is left out of the body."""

    path: str | None = None
    limit_key: str = "max_tokens"
    extra_body: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One endpoint under test; `url` is None where specbench starts the engine itself: by `launch`, or the embedded one.

    `api_key_env` and `header_env` (header to variable) name environment variables; no key itself is in here. `path` is asked
    behind `url` instead of the usual one, and a field of None in `extra_body` is left out of the request's body. `recognise`: the
    scenario names no engine, so the endpoint's own answers are to tell; `engine` is what it is taken for where they do not.
    """

    engine: str
    url: str | None
    model: str | None
    api_key_env: str | None
    headers: dict[str, str]
    extra_body: dict[str, Any]
    metrics_url: str | None
    speculative: dict[str, Any] | None
    slow_by: float
    options: dict[str, Any]
    declare: dict[str, str]
    launch: Launch | None = None
    header_env: dict[str, str] = field(default_factory=dict)
    path: str | None = None
    limit_key: str = "max_tokens"
    recognise: bool = False

    @property
    def asking(self) -> Asking:
        """How this arm is asked."""
        return Asking(path=self.path, limit_key=self.limit_key, extra_body=self.extra_body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """A bin of the workload: prompt and output lengths in tokens, drawn inside [low, high], and its share of requests.

    `label`: the labels of the dataset's rows that it takes; empty where it takes all. `valid`: what its answers must be.
    """

    name: str
    input_tokens: tuple[int, int]
    output_tokens: tuple[int, int]
    weight: float
    label: tuple[str, ...] = ()
    valid: ValidRule | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """One way to sample; every field of None is not sent, so that the endpoint's own default holds."""

    name: str
    temperature: float
    top_p: float | None
    top_k: int | None
    seed: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """Conversations that are sent whole: how many turns each has, how long its user thinks between them, and whose answers later
    turns hold: those that the dataset recorded, or the arm's own.
    """

    turns: tuple[int, int]
    think_s: tuple[float, float]
    history: History = "dataset"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What is asked of the endpoints, the same for both arms; `extra_body` are further fields of every request."""

    corpus: str | None
    dataset: str | None
    route: Route
    length: Length
    streaming: bool
    shared_prefix_tokens: int
    bins: tuple[Bin, ...]
    sampling: tuple[Sampling, ...]
    reading: DatasetReading = field(default_factory=DatasetReading)
    sessions: Sessions | None = None
    extra_body: dict[str, Any] = field(default_factory=dict)

    @property
    def own_history(self) -> bool:
        """Whether later turns hold the arm's own answers, so that the arms have different prompts."""
        return self.sessions is not None and self.sessions.history == "own"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersCheck:
    """Whether and how the arms' answers are compared: so many prompts of each sampling; the share of answers that may differ
    clearly is a fraction. `lossy`: speculation is declared to change the answers. `examples`: of which texts are kept.
    """

    check: bool = True
    prompts: int = 256
    differ_by_at_most: float = 0.05
    lossy: bool = False
    examples: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSize:
    """When a block ends: both minima reached, or `max_s`; `ramp_s` is the latest moment its steady window opens."""

    min_requests: int
    min_s: float
    max_s: float
    ramp_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long one request may take in seconds, the same for both arms: until its first token, between two, and in all.

    The defaults are what held before scenarios could say so.
    """

    first_token_s: float = 120.0
    stall_s: float = 30.0
    total_s: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StartSd:
    """How far one start of an engine differs from the next in its times and rates: a standard deviation on the log scale.

    `df`: the degrees of freedom with which it was measured; None where it is stated.
    """

    sd: float = 0.01
    df: float | None = None


RAMP = "ramp"  # the id of the load that rises: it is in no plan's cells, and nothing is judged on it


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadRamp:
    """A load that rises evenly from nothing to `to` requests per second, and holds there; shown and never judged."""

    to: float
    over_s: float
    hold_s: float

    @property
    def lasts_s(self) -> float:
        """How long it lasts in all."""
        return self.over_s + self.hold_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Arrivals as the dataset's requests came: `mean_rate` is theirs, in requests per second."""

    mean_rate: float

    def speed(self, rate: float) -> float:
        """How many times as fast they come at this rate."""
        return float(f"{rate / self.mean_rate:.4g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The load: concurrency levels (closed loop) and rates in requests per second (open loop), pairs and block size.

    `replay` is set where arrivals are replayed. `in_flight`: the most requests of the open loop that are under way at once.
    """

    traffic: Traffic
    concurrency: tuple[int, ...]
    rate: tuple[float, ...]
    arrivals: Literal["poisson", "constant", "replay"]
    primary: float
    optional: tuple[float, ...]
    traffic_share: dict[float, float]
    schedule: Schedule
    pairs: int
    block: BlockSize
    limits: Limits = Limits()
    start_sd: StartSd = StartSd()
    replay: Replay | None = None
    in_flight: int = 256
    ramp: LoadRamp | None = None

    @property
    def gain_by_rate(self) -> bool:
        """Whether the gain is asked for at a rate of arrivals: in the closed loop, unless only a rate is named."""
        return not self.concurrency or (self.primary in self.rate and self.primary not in self.concurrency)


@dataclass(frozen=True, slots=True, kw_only=True)
class Success:
    """The benefit that must be shown in the primary cell: `improve_by` is a fraction (0.05 for 5 %)."""

    metric: str
    improve_by: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Guardrail:
    """What must not get worse: relative (`margin`, a fraction, with a floor) or absolute (`slo`, in the metric's unit)."""

    metric: str
    role: Role
    margin: float | None
    floor: float
    slo: float | None
    required: bool
    cells: tuple[float, ...] | None
    bins: tuple[str, ...] | None

    @property
    def decides(self) -> bool:
        """Whether the verdict rests on it: it is required, and no advice."""
        return self.required and self.role in DECIDING


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One comparison, whole: who is compared, with what work, under which load, and what decides.

    `design`: `aa` lets both arms run what the baseline runs, each in its own place; `swap` has them exchange places. `place` is
    "same" where the places are declared to be alike, and `place_runs` names earlier runs (ids or folders) that are to show it.
    `sha256` is of the file's text alone: what the command line changed is in the other fields, and not in it; `flags` are the
    words that changed them, but for profile, design and loads, and without what may be secret. `tune` is what `specbench tune`
    is to try, `confirms` what a run of `specbench confirm` confirms. `watch_limits`: what live traffic is held to after launch,
    by metric, in ms; of alpha the least it may be.
    """

    name: str
    path: str
    sha256: str
    seed: int
    profile: str
    baseline: Arm
    speculative: Arm
    workload: Workload
    matrix: Matrix
    success: Success
    guardrails: tuple[Guardrail, ...]
    alpha: float
    place: str | None
    accept_differences: tuple[str, ...]
    labels: dict[str, str]
    design: Design = "plain"
    place_runs: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    tune: TunePlan | None = None
    confirms: Confirmation | None = None
    answers: AnswersCheck = AnswersCheck()
    watch_limits: dict[str, float] = field(default_factory=dict)

    def arm(self, name: ArmName) -> Arm:
        """The arm of that name."""
        return self.baseline if name == "baseline" else self.speculative
