"""The Spark session of the other suites."""

from __future__ import annotations

from tests.spark.conftest import spark  # noqa: F401
