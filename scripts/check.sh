#!/bin/sh
# The checks that run no test: style, types, floors, generated files. Needs the `dev` extra on PATH.
set -eu
cd "$(dirname "$0")/.."
ruff check .
ruff format --check .
mypy
lint-imports
python -m pykbroker.protocol.generate --check
python -m pykbroker.config.document --check
python -m pykbroker.broker.api_support --check
