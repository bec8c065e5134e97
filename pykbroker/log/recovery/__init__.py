"""Opening a log that a crash may have left behind: in the node, or in worker processes."""
