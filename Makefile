# The commands of CONTRIBUTING.md by short names; each is one line of shell.
.PHONY: run test check quick format generate bench

run:            ## install into .venv and start a broker
	scripts/run.sh

test:           ## install into .venv, run every check and test
	scripts/test.sh

check:          ## linters, types, floors, generated files
	scripts/check.sh

quick:          ## an answer within two to five minutes: the checks, and the tests of the core
	scripts/quick.sh

format:
	.venv/bin/ruff check --fix . && .venv/bin/ruff format .

generate:       ## messages and reference pages
	.venv/bin/python -m pykbroker.protocol.generate
	.venv/bin/python -m pykbroker.config.document
	.venv/bin/python -m pykbroker.broker.api_support

bench:          ## beside Apache Kafka
	.venv/bin/python -m benchmarks.compare --quick
