"""What jobs have in common whose processes are alike: one, unless they say how many."""
import dataclasses
import typing

from harness.job import process_name


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProcessJob:
    """The rest is each kind's own: `name`, `experiment`, `contestants`, `slots`, `rounds`, and

    words(beside)    the program's; `beside` is the lab's other program
    table_bytes()    what its tables take
    seconds()        about how long it takes: only the progress bar asks
    tiny()           the same in seconds, for a smoke run
    """

    PROGRAM: typing.ClassVar[str]

    cores: int = 1
    pages: str = "2M"
    loads: tuple = (1.0,)
    not_run_because: str = ""
    processes: int = 1
    process: int = 0  # which of them this is

    @property
    def process_name(self):
        return process_name(self.name, self.process)

    def each_process(self):
        return [dataclasses.replace(self, process=number) for number in range(self.processes)]

    def program(self, beside):
        return beside.with_name(self.PROGRAM)

    def reserved_bytes(self):
        return self.table_bytes()
