#!/bin/sh
# What the GitHub action runs: measures (or takes the run that SPECBENCH_RUN names), reports in GitHub's forms, ends with the gate's
# code. Every value comes by environment, never by pasting into the script, so that no input can become a command; none can become
# an option or a line of its own either. Whatever goes wrong, the step fails: 0 is said by the gate alone.
set -eu

refuse() {
  echo "::error title=specbench::$1"
  exit 2
}

# Runs a command whose output may hold what a server told, with GitHub's own commands (`::error::`) off while it speaks; the token
# that turns them on again is one that nobody can guess. The empty line ends a last line that the command did not end.
quoted() {
  token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  [ "${#token}" -eq 32 ] || refuse "this machine has no random numbers (/dev/urandom)"
  echo "::stop-commands::$token"
  ended=0
  "$@" || ended=$?
  printf '\n::%s::\n' "$token"
  return "$ended"
}

cr=$(printf '\r')
for value in "${SPECBENCH_RUN:-}" "${SPECBENCH_SCENARIO:-}" "${SPECBENCH_BASELINE:-}" "${SPECBENCH_SPECULATIVE:-}" \
  "${SPECBENCH_MODEL:-}" "${SPECBENCH_PROFILE:-}" "${RUNNER_TEMP:-}" "${TMPDIR:-}"; do
  case "$value" in
    *"
"* | *"$cr"*) refuse "an input holds a line break; inputs are one line each" ;;
  esac
done
case "${SPECBENCH_ALLOW_CAPPED:-false}" in true | false) ;; *) refuse "allow-capped is true or false" ;; esac
case "${SPECBENCH_FAIL_ON:-any}" in any | harm) ;; *) refuse "fail-on is any or harm" ;; esac

# A path that begins with a hyphen is a path and no option.
path() {
  case "$1" in -*) printf './%s' "$1" ;; *) printf '%s' "$1" ;; esac
}

run=$(path "${SPECBENCH_RUN:-}")
if [ -z "$run" ]; then
  if [ -z "${SPECBENCH_SCENARIO:-}" ]; then
    refuse "name a scenario, or a run folder that is there already"
  fi
  # A folder of its own, as one job may use the action twice.
  run=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/specbench-XXXXXX")/run
  set -- --out="$run"
  if [ -n "${SPECBENCH_BASELINE:-}" ]; then set -- "$@" --baseline="$SPECBENCH_BASELINE"; fi
  if [ -n "${SPECBENCH_SPECULATIVE:-}" ]; then set -- "$@" --speculative="$SPECBENCH_SPECULATIVE"; fi
  if [ -n "${SPECBENCH_MODEL:-}" ]; then set -- "$@" --model="$SPECBENCH_MODEL"; fi
  if [ -n "${SPECBENCH_PROFILE:-}" ]; then set -- "$@" --profile="$SPECBENCH_PROFILE"; fi
  code=0
  quoted specbench run "$@" -- "$(path "$SPECBENCH_SCENARIO")" || code=$?
  # 30 is a verdict (INVALID), and has a result to report; anything else that is not 0 has none.
  if [ "$code" -ne 0 ] && [ "$code" -ne 30 ]; then exit "$code"; fi
fi

specbench report --format annotations -- "$run"
specbench report --format markdown -- "$run" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
specbench report --format junit -- "$run"
specbench report --format comment -o "$run/comment.md" -- "$run"
{
  specbench report --format outputs -- "$run"
  echo "folder=$run"
} >>"${GITHUB_OUTPUT:-/dev/null}"

code=0
if [ "${SPECBENCH_ALLOW_CAPPED:-false}" = true ]; then
  quoted specbench gate --allow-capped -- "$run" || code=$?
else
  quoted specbench gate -- "$run" || code=$?
fi
# 10 is HOLD, 11 is CAPPED: with `harm` these warn (the annotations said so) and do not fail.
if [ "${SPECBENCH_FAIL_ON:-any}" = harm ] && { [ "$code" -eq 10 ] || [ "$code" -eq 11 ]; }; then code=0; fi
exit "$code"
