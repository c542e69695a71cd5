#!/usr/bin/env bash
# Checks a GPU machine in about half an hour: checks and measures the operators from Python, runs the
# tests that require a GPU, and compares models with eager PyTorch.
#
#   kernels/gpu.sh OUT [PART...]
#
# PART is env, operators, suite or benchmark (default: all). OUT is a folder for the output of each
# part, and for the benchmark's page.md and results.json. The other parts run even if one fails.
# PYTHON (python3) must have torch, SACCADE is the command, SUITE runs the tests, and BENCHMARK
# contains options for kernels/benchmark.py.
set -uo pipefail
[ $# -ge 1 ] || { sed -n '2,/^set/s/^# \?//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
out=$1
shift
mkdir -p "$out"
python=${PYTHON:-python3}
saccade=${SACCADE:-$here/../saccade}
failed=0

run() { # PART COMMAND...: prints the output and writes it to OUT/PART.txt
  local part=$1 start=$SECONDS
  shift
  echo "== $part: $*"
  "$@" 2>&1 | tee "$out/$part.txt" || failed=1
  echo "== $part took $((SECONDS - start)) s"
}

for part in "${@:-env operators suite benchmark}"; do
  for one in $part; do
    case $one in
      env) run env bash -c "nvidia-smi; $saccade env" ;;
      operators) run operators "$python" "$here/gpu_check.py" ;;
      suite) run suite bash -c "cd '$here/..' && ${SUITE:-mvn -q -Dgroups=gpu -Dsurefire.failIfNoSpecifiedTests=false verify}" ;;
      # shellcheck disable=SC2086 # several options
      benchmark) run benchmark "$python" "$here/benchmark.py" --saccade "$saccade" --out "$out" ${BENCHMARK:-} ;;
      *) echo "no part $one" >&2; failed=1 ;;
    esac
  done
done
exit $failed
