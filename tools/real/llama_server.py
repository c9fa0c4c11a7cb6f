"""Serves a GGUF model with llama.cpp's own HTTP server out of the `xllamacpp` wheel, under the flags of `llama-server`.

Only the flags that specbench's ready-made command and its scenarios use; where `llama-server` itself is installed, use that.

    python tools/real/llama_server.py --model M.gguf --alias NAME --port 8080 --spec-type ngram-map-k --spec-ngram-map-k-size-n 8
"""

import argparse
import signal
import sys
from pathlib import Path

NGRAM_TYPES = ("ngram-simple", "ngram-map-k", "ngram-map-k4v")


def flags() -> argparse.ArgumentParser:
    """The accepted flags."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--model", required=True)
    parser.add_argument("--alias", required=True)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--metrics", action="store_true")
    parser.add_argument("--slots", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--parallel", type=int, default=4)
    parser.add_argument("--ctx-size", type=int, default=2048, help="tokens of context for each of the --parallel slots")
    parser.add_argument("--spec-type", default="none")
    parser.add_argument("--spec-draft-model")
    parser.add_argument("--spec-draft-n-max", type=int)
    parser.add_argument("--spec-draft-n-min", type=int)
    parser.add_argument("--spec-draft-p-min", type=float)
    parser.add_argument("--spec-synth-len", type=float, help="accept so many tokens a round, whatever they are")
    for name in NGRAM_TYPES:
        parser.add_argument(f"--spec-{name}-size-n", type=int)
        parser.add_argument(f"--spec-{name}-size-m", type=int)
    return parser


def main() -> None:
    """Serve until SIGTERM or Ctrl-C."""
    asked = flags().parse_args()
    for path in filter(None, (asked.model, asked.spec_draft_model)):
        if not Path(path).is_file():
            sys.exit(f"llama_server.py: there is no file {path}; `make real-models` makes those of scenarios/real")
    try:
        import xllamacpp
    except ImportError as error:
        sys.exit(f"llama_server.py: xllamacpp cannot be loaded ({error}); `pip install 'specbench-llm[demo-real]'` installs it")
    wanted = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, wanted)  # before the server starts its threads, so that none of them takes one
    server = xllamacpp.Server(parameters(xllamacpp, asked))
    print(f"serving {asked.model} at {server.listening_address}", flush=True)
    signal.sigwait(wanted)


def parameters(xllamacpp: object, asked: argparse.Namespace) -> object:
    """The flags as the wheel wants them."""
    params = xllamacpp.CommonParams()  # type: ignore[attr-defined]
    params.model.path = asked.model
    params.model_alias = {asked.alias}
    params.hostnames = [asked.host]
    params.port = asked.port
    params.n_parallel = asked.parallel
    params.n_ctx = asked.ctx_size * asked.parallel
    params.endpoint_metrics = asked.metrics
    params.endpoint_slots = asked.slots
    params.endpoint_props = True
    params.verbosity = 1
    draft = params.speculative.draft
    for threads in (params.cpuparams, params.cpuparams_batch, draft.cpuparams, draft.cpuparams_batch):
        threads.n_threads = asked.threads
    if asked.spec_type != "none":
        name = "COMMON_SPECULATIVE_TYPE_" + asked.spec_type.upper().replace("-", "_")
        params.speculative.types = [getattr(xllamacpp.common_speculative_type, name)]  # type: ignore[attr-defined]
    if asked.spec_draft_model:
        draft.mparams.path = asked.spec_draft_model
    if asked.spec_draft_n_max is not None:
        draft.n_max = asked.spec_draft_n_max
    if asked.spec_draft_n_min is not None:
        draft.n_min = asked.spec_draft_n_min
    if asked.spec_draft_p_min is not None:
        draft.p_min = asked.spec_draft_p_min
    if asked.spec_synth_len is not None:
        params.speculative.synth_len = asked.spec_synth_len
    for kind in (name.replace("-", "_") for name in NGRAM_TYPES):
        for size in ("size_n", "size_m"):
            value = getattr(asked, f"spec_{kind}_{size}")
            if value is not None:
                setattr(getattr(params.speculative, kind), size, value)
    return params


if __name__ == "__main__":
    main()
