"""Which commands of several copies of the tree run side by side: those that ctest -j would let.

A planted bug counts as caught when a test fails, so a test must not fail for what runs beside it.
"""

import collections
import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import typing


class Turns:
    """So many processors, handed out in the order in which they are asked for."""

    def __init__(self, processors):
        self.processors = processors
        self._free = processors
        self._waiting = collections.deque()
        self._changed = threading.Condition()
        self._tests = collections.defaultdict(threading.Lock)

    @contextlib.contextmanager
    def taken(self, processors):
        """A request for more than there are gets all."""
        wanted = min(processors, self.processors)
        ticket = object()
        with self._changed:
            self._waiting.append(ticket)
            self._changed.wait_for(lambda: self._waiting[0] is ticket and self._free >= wanted)
            self._waiting.popleft()
            self._free -= wanted
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._free += wanted
                self._changed.notify_all()

    @contextlib.contextmanager
    def test(self, name, processors):
        """One test is never run twice at a time: it may need a port or a folder of the machine."""
        with self._changed:
            lock = self._tests[name]
        with lock, self.taken(processors):
            yield


class Outcome(typing.NamedTuple):
    """How a command ended, and what it said."""

    status: int
    output: str
    is_late: bool


class Commands:
    """Runs commands, and leaves nothing of them behind: what a command starts ends with it."""

    def __init__(self):
        self._lock = threading.Lock()
        self._running = set()
        self._are_over = False

    def _started(self, command, folder, environment, output):
        with self._lock:
            if self._are_over:
                raise InterruptedError
            process = subprocess.Popen(command, cwd=folder, env=environment, process_group=0,
                                       stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.STDOUT)
            self._running.add(process)
            return process

    def run(self, command, folder, environment, seconds=None):
        # A file, because a pipe would be waited for until the last grandchild has closed it.
        with tempfile.TemporaryFile() as output:
            process = self._started(command, folder, environment, output)
            is_late = False
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                is_late = True
            finally:
                self._end(process)
            output.seek(0)
            text = output.read().decode(errors="replace")
        note = f"\nno end after {seconds} s\n" if is_late else ""
        return Outcome(process.returncode, text + note, is_late)

    def _end(self, process):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        with self._lock:
            self._running.discard(process)

    def stop(self):
        """Ends what runs, and runs nothing more."""
        with self._lock:
            self._are_over = True
            for process in self._running:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
