"""From a request to its reply: the worker, long requests, shared code of handlers."""
