#!/bin/sh
# Installs everything that the tests need, then runs every check and every test. Arguments go to
# pytest. CHECKS=0 leaves out the linters.
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
exec python -m pytest "$@"
