"""Pages of 2 MiB for the time of a run: reserved from the kernel on entry, given back on exit.

The number reserved before is not touched: a run adds its own pages and takes the same number away,
so runs side by side do not take each other's. Only SIGKILL of this process leaves pages behind.
"""
import contextlib
import signal
from pathlib import Path

PAGE_BYTES = 2 << 20
FOLDER = Path("/sys/kernel/mm/hugepages/hugepages-2048kB")
COMPACT = Path("/proc/sys/vm/compact_memory")
ENDING_SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


class NoHugePages(Exception):
    """The pages are not available; the text says why."""


@contextlib.contextmanager
def signals_held():
    """Ending signals wait until the block is done, so that no page is taken and forgotten."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_on_signals():
    """Makes the ending signals exceptions, so that `with` blocks are left in order."""

    def leave(number, _frame):
        raise SystemExit(128 + number)

    for ending in ENDING_SIGNALS:
        signal.signal(ending, leave)


class HugePages:
    """A reservation of `count` pages, as a context manager."""

    def __init__(self, count, folder=FOLDER, compact=COMPACT):
        self.count = count
        self.taken = 0
        self.setting = Path(folder) / "nr_hugepages"
        self.compact = Path(compact)

    def __enter__(self):
        try:
            with signals_held():
                before = self._reserved()
                self._ask_for(before + self.count)
                self.taken = max(0, self._reserved() - before)
                if self.taken < self.count:
                    self.compact.write_text("1\n")
                    self._ask_for(before + self.count)
                    self.taken = max(0, self._reserved() - before)
        except OSError as error:
            self.give_back()
            reason = f"{error.filename}: {error.strerror}; reserving pages takes root"
            raise NoHugePages(reason) from error
        if self.taken < self.count:
            got = self.taken
            self.give_back()
            raise NoHugePages(f"the kernel gave {got} of {self.count} pages; "
                              "free memory or ask for fewer slots")
        return self

    def __exit__(self, *_exception):
        self.give_back()

    def give_back(self):
        with signals_held():
            if self.taken:
                self._ask_for(max(0, self._reserved() - self.taken))
                self.taken = 0

    def _reserved(self):
        return int(self.setting.read_text())

    def _ask_for(self, count):
        self.setting.write_text(f"{count}\n")
