"""A bound on the memory that this process may take: what would copy an array fails."""

import contextlib
import pathlib
import resource


@contextlib.contextmanager
def at_most_more(more_bytes):
    """Within, the address space may grow by so many bytes; allocations beyond that fail."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
    before, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, hard))
