#!/bin/sh
# Installs everything that the tests need, then runs every check and every test, in two processes
# where there are two cores. Arguments go to pytest, and leave all to one process unless they say
# otherwise. CHECKS=0 leaves out the linters.
set -eu
cd "$(dirname "$0")/.."
. scripts/tools.sh
need_test_tools
install_checkout .venv '[test,dev]'
PATH="$PWD/.venv/bin:$PATH"
export PATH
if [ $# = 0 ]; then
    say "getting the tools that the tests run beside pykbroker"
    python -m tests.harness.tools
fi
if [ "${CHECKS:-1}" = 1 ]; then
    scripts/check.sh
fi
if [ $# = 0 ]; then
    # A file's tests stay together. More processes would each start a Spark session and brokers.
    set -- --numprocesses=auto --maxprocesses=2 --dist=loadfile
fi
exec python -m pytest "$@"
