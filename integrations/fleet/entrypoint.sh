#!/bin/sh
# Takes Locust's flags, as the operator of LocustTest (locust.io/v1) gives them, and starts a run or a worker of it.
# The scenario is /scenario/scenario.yaml (SPECBENCH_SCENARIO), the run folder /runs/current (SPECBENCH_OUT); the key is SPECBENCH_FLEET_KEY.
set -eu
role='' host=127.0.0.1 port=5557 workers=1
while [ $# -gt 0 ]; do
  flag=$1
  value=''
  case $flag in
    --*=*) value=${flag#*=} flag=${flag%%=*} ;;
    --master-host | --master-port | --expect-workers | --master-bind-port | -f | --locustfile | -H | --host | -u | --users | -r | --spawn-rate | -t | --run-time)
      [ $# -gt 1 ] || { echo "entrypoint.sh: $flag needs a value" >&2; exit 2; }
      value=$2
      shift
      ;;
  esac
  case $flag in
    --master) role=run ;;
    --worker) role=worker ;;
    --master-host) host=$value ;;
    --master-port | --master-bind-port) port=$value ;;
    --expect-workers) workers=$value ;;
  esac
  shift
done
case $role in
  worker) exec specbench worker "$host:$port" ;;
  run)
    exec specbench run "${SPECBENCH_SCENARIO:-/scenario/scenario.yaml}" --out "${SPECBENCH_OUT:-/runs/current}" \
      --workers "$workers" --worker-wait "${SPECBENCH_WORKER_WAIT:-10m}" --listen "0.0.0.0:$port"
    ;;
  *) echo "entrypoint.sh: give --master or --worker" >&2; exit 2 ;;
esac
