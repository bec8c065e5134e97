"""Settings for all tests."""

from __future__ import annotations

from hypothesis import settings

# A loaded machine must not fail a property test.
settings.register_profile("pykbroker", deadline=None)
settings.load_profile("pykbroker")
