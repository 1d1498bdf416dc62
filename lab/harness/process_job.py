"""What jobs have in common that are one process each."""
import dataclasses
import typing


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
    process: int = 0  # the only one

    @property
    def process_name(self):
        return self.name

    def program(self, beside):
        return beside.with_name(self.PROGRAM)

    def reserved_bytes(self):
        return self.table_bytes()
