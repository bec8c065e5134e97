#!/bin/sh
# The checks that run no test: style, types, floors, generated files, links of
# the pages in docs/. Needs the `dev` extra, in .venv or on PATH.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
ruff check .
ruff format --check .
mypy
lint-imports
python -m pykbroker.protocol.generate --check
python -m pykbroker.config.document --check
python -m pykbroker.broker.api_support --check
# Not --quiet: it would hide the warnings from --strict.
site=$(mktemp -d)
NO_MKDOCS_2_WARNING=1 mkdocs build --strict --site-dir "$site"
rm -r "$site"
