"""Opening a log, after a crash if necessary: in the node, or in worker processes."""
