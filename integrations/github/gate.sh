#!/bin/sh
# What the GitHub action runs: measures (or takes the run that SPECBENCH_RUN names), reports in GitHub's forms, ends with the gate's
# code. Every value comes by environment, never by pasting into the script, so that no input can become a command.
set -eu

# Runs a command whose output may hold what a server told, with GitHub's own commands (`::error::`) off while it speaks; the token
# that turns them on again is one that nobody can guess. The empty line ends a last line that the command did not end.
quoted() {
  token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  echo "::stop-commands::$token"
  ended=0
  "$@" || ended=$?
  printf '\n::%s::\n' "$token"
  return "$ended"
}

run=${SPECBENCH_RUN:-}
if [ -z "$run" ]; then
  if [ -z "${SPECBENCH_SCENARIO:-}" ]; then
    echo "::error title=specbench::name a scenario, or a run folder that is there already"
    exit 2
  fi
  run=${RUNNER_TEMP:-${TMPDIR:-/tmp}}/specbench-run
  set -- "$SPECBENCH_SCENARIO" --out "$run"
  if [ -n "${SPECBENCH_BASELINE:-}" ]; then set -- "$@" --baseline "$SPECBENCH_BASELINE"; fi
  if [ -n "${SPECBENCH_SPECULATIVE:-}" ]; then set -- "$@" --speculative "$SPECBENCH_SPECULATIVE"; fi
  if [ -n "${SPECBENCH_MODEL:-}" ]; then set -- "$@" --model "$SPECBENCH_MODEL"; fi
  if [ -n "${SPECBENCH_PROFILE:-}" ]; then set -- "$@" --profile "$SPECBENCH_PROFILE"; fi
  code=0
  quoted specbench run "$@" || code=$?
  # 30 is a verdict (INVALID), and has a result to report; anything else that is not 0 has none.
  if [ "$code" -ne 0 ] && [ "$code" -ne 30 ]; then exit "$code"; fi
fi

specbench report "$run" --format annotations
specbench report "$run" --format markdown >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
specbench report "$run" --format junit
specbench report "$run" --format comment -o "$run/comment.md"
{
  specbench report "$run" --format outputs
  echo "folder=$run"
} >>"${GITHUB_OUTPUT:-/dev/null}"

code=0
if [ "${SPECBENCH_ALLOW_CAPPED:-false}" = true ]; then
  quoted specbench gate "$run" --allow-capped || code=$?
else
  quoted specbench gate "$run" || code=$?
fi
# 10 is HOLD, 11 is CAPPED: with `harm` these warn (the annotations said so) and do not fail.
if [ "${SPECBENCH_FAIL_ON:-any}" = harm ] && { [ "$code" -eq 10 ] || [ "$code" -eq 11 ]; }; then code=0; fi
exit "$code"
