"""The two arms of a scenario, frozen, with the commands that start them; and whether a schedule fits them. Pure."""

from specbench.model.off_schedule import embedded_fault, schedule_fault
from specbench.model.scenario import ARMS, Arm, ArmName, Launch, Schedule
from specbench.net.urls import share_server, without_route
from specbench.scenario.arm_schema import ArmSchema, LaunchSchema
from specbench.scenario.asking import path_fault
from specbench.scenario.launch_commands import READY, READY_ELSEWHERE, launch_command
from specbench.scenario.text.yaml_source import Path, YamlSource

# What an arm that is not the embedded engine may say under `options`: where its metrics are, beyond `metrics_url`.
METRICS_OPTIONS = {"metrics_api_key_env", "gpu_metrics_url", "gpus"}

_SLEEP_ENV = {"VLLM_SERVER_DEV_MODE": "1"}  # vLLM has /sleep and /wake_up only then


def arm_of(form: ArmSchema, name: ArmName, text: YamlSource) -> Arm:
    """The arm of that name, frozen, with the command that starts it.

    Raises:
        ScenarioError: it says neither where the engine is nor how to start it, or both, or what only another kind of arm may say.
    """
    path: Path = ("arms", name)
    engine = form.engine or "openai"
    given = [key for key, value in (("url", form.url), ("launch", form.launch)) if value is not None]
    if len(given) == 2:
        raise text.error((*path, "launch"), "a launched engine serves on this machine at a port of its own: leave out url")
    if not given and engine != "embedded":
        raise text.error(path, "needs a url, or a launch block (or engine: embedded, which specbench starts itself)")
    url, pasted = (form.url, None) if form.url is None else without_route(form.url)
    if pasted is not None and form.path is not None:
        raise text.error((*path, "path"), "the url names a path already: leave one of them out")
    if pasted is not None and (fault := path_fault(pasted)) is not None:
        raise text.error((*path, "url"), fault)
    embedded = engine == "embedded" and not given
    if not embedded and (form.slow_by or form.options.keys() - METRICS_OPTIONS):
        raise text.error(path, "slow_by and options are for the embedded engine that specbench starts")
    if form.speculative is not None:
        if (fault := schedule_fault(form.speculative)) is not None:
            raise text.error((*path, "speculative"), fault)
        if engine == "embedded" and (fault := embedded_fault(form.speculative)) is not None:
            raise text.error((*path, "speculative"), fault)
    launch = None if form.launch is None else _launch(form.launch, form, engine, (*path, "launch"), text)
    model = form.model or (form.launch.model if form.launch is not None else None)
    told = form.model_dump(exclude={"engine", "url", "path", "model", "launch"})
    asked_who = form.engine is None
    return Arm(**told, engine=engine, url=url, path=form.path or pasted, model=model, launch=launch, recognise=asked_who)


def check_schedule(schedule: Schedule, arms: tuple[Arm, Arm], text: YamlSource) -> None:
    """Nothing, where both arms can be run as the schedule asks.

    Raises:
        ScenarioError: `restart` with an engine that specbench does not start, `simultaneous` with one engine for both arms, or
            an engine that is to sleep under another schedule than `alternate`.
    """
    where: Path = ("matrix", "schedule")
    for name, arm in zip(ARMS, arms, strict=True):
        if schedule == "restart" and arm.url is not None:
            raise text.error(
                where, f"restart needs engines that specbench starts, and arms.{name} is a url; give it a launch block"
            )
        if schedule != "alternate" and arm.launch is not None and arm.launch.sleep:
            raise text.error(where, f"arms.{name} is to sleep between its blocks, which only schedule: alternate has")
    if schedule == "simultaneous" and share_server([arm.url for arm in arms]):
        raise text.error(where, "simultaneous needs two engines, and both arms have one url, however it is spelled; leave it out")


def _launch(form: LaunchSchema, arm: ArmSchema, engine: str, path: Path, text: YamlSource) -> Launch:
    if engine == "embedded":
        raise text.error(path, "specbench knows how to start the embedded engine: leave out launch")
    if form.command is not None and (form.program or form.model or form.arguments):
        raise text.error(path, "command is the whole command: leave out program, model and arguments")
    if form.sleep and engine != "vllm":
        raise text.error((*path, "sleep"), "only vLLM can sleep; leave it out, or use schedule: restart")
    return Launch(
        **form.model_dump(include={"gpu", "port", "timeout_s", "log", "sleep"}),
        command=tuple(form.command) if form.command is not None else _ready_made(form, arm, engine, path, text),
        env={**(_SLEEP_ENV if form.sleep else {}), **form.env},
        secrets=tuple(form.secrets),
        ready=form.ready or READY.get(engine, READY_ELSEWHERE),
    )


def _ready_made(form: LaunchSchema, arm: ArmSchema, engine: str, path: Path, text: YamlSource) -> tuple[str, ...]:
    if form.model is None:
        raise text.error(path, "needs a command, or a model for the engine's ready-made one")
    program = tuple(form.program) if form.program is not None else None
    try:
        command = launch_command(engine, program, form.model, arm.model or form.model, arm.speculative)
    except ValueError as error:
        raise text.error(path, str(error)) from None
    return (*command, *(("--enable-sleep-mode",) if form.sleep else ()), *form.arguments)
