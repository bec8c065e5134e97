#!/bin/sh
# Installs pykbroker into .venv of this checkout, once for each pyproject.toml, and starts a broker on
# 127.0.0.1:9092 with its data in ./pykbroker-data. Arguments go to `pykbroker start`.
#
#     scripts/run.sh --no-install ...     starts what .venv holds already
set -eu
cd "$(dirname "$0")/.."
. scripts/tools.sh
if [ "${1:-}" = --no-install ]; then
    shift
    if [ ! -x .venv/bin/pykbroker ]; then
        say "pykbroker is not installed in .venv: leave out --no-install once"
        exit 1
    fi
else
    install_checkout .venv ""
fi
say ".venv/bin/pykbroker start $*"
exec .venv/bin/pykbroker start "$@"
