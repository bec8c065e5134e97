"""What a leader checks of a produced batch, down to its records."""
