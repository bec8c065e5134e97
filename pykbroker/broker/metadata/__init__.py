"""What follows the metadata, and what asks the controller to change it."""
