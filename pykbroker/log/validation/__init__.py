"""A leader's checks of a produced batch, down to its records."""
