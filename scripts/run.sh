#!/bin/sh
# Installs pykbroker into .venv of this checkout and starts a broker on 127.0.0.1:9092 with its data
# in ./pykbroker-data. Arguments go to `pykbroker start`.
set -eu
cd "$(dirname "$0")/.."
. scripts/tools.sh
make_venv .venv
.venv/bin/pip install --quiet --disable-pip-version-check .
exec .venv/bin/pykbroker start "$@"
