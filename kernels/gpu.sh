#!/usr/bin/env bash
# The first half hour on a GPU by one command: checks and times the operators from Python, runs the
# tests that want a GPU, and times models beside eager PyTorch.
#
#   kernels/gpu.sh OUT [PART...]
#
# PART is env, operators, suite or benchmark; all of them by default. OUT is a folder for what each
# prints, and for the benchmark's page.md and figures.json. A part that fails does not keep the others
# from running. PYTHON (python3) has torch, SACCADE is the command, SUITE runs the tests, and
# BENCHMARK holds options for kernels/benchmark.py.
set -uo pipefail
[ $# -ge 1 ] || { sed -n '2,/^set/s/^# \?//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
out=$1
shift
mkdir -p "$out"
python=${PYTHON:-python3}
saccade=${SACCADE:-$here/../saccade}
failed=0

run() { # PART COMMAND...: what it prints goes to the screen and to OUT/PART.txt
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
