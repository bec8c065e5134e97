"""Parts that follow the metadata, or ask the controller to change it."""
