#!/bin/sh
# An answer within two to five minutes on two cores: the checks, and the tests that start no other program,
# in two processes. Left out are commands, Apache Kafka and stock clients, Spark, the offline reader,
# fuzzing and the simulated world, which scripts/test.sh runs too. Needs the `test` and `dev` extras,
# in .venv or on PATH.
set -u
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
output=$(mktemp)
trap 'rm -f "$output"' EXIT

quick_tests() {
    folders=$(printf 'tests/%s ' "$@")
    # shellcheck disable=SC2086
    python -m pytest -q -m "not interop and not spark and not slow" $folders
}

{ scripts/check.sh && quick_tests test_house.py protocol config network log; } >"$output" 2>&1 &
other=$!
status=0
quick_tests environment kraft replication coordinator broker || status=$?
wait "$other" || status=$?
cat "$output"
exit "$status"
