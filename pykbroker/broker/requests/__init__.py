"""From a request to its reply: the worker, long requests, what handlers share."""
