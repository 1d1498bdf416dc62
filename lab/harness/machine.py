"""What a record says of the machine, the kernel and the build, as lines of `name: value`."""
import datetime
import os
import platform
import subprocess
from pathlib import Path


def _first_line(path, default="unknown"):
    try:
        return Path(path).read_text().splitlines()[0].strip()
    except (OSError, IndexError):
        return default


def _field(path, name):
    """The value of the first `name : value` line of a file in /proc."""
    for line in Path(path).read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return "unknown"


def _caches():
    found = []
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = (_first_line(index / name) for name in ("level", "type", "size"))
        shared_by = _first_line(index / "shared_cpu_list")
        found.append(f"L{level} {kind.lower()} {size} (cores {shared_by})")
    return ", ".join(found) or "unknown"


def _processor():
    """Its name, and the numbers that say which it is where the name is only that of a family."""
    name, family, model = (_field("/proc/cpuinfo", field)
                           for field in ("model name", "cpu family", "model"))
    return f"{name} (family {family}, model {model})"


def _isa_flags():
    wanted = ("sse4_2", "avx2", "avx512bw", "avx512vl", "hypervisor")
    flags = _field("/proc/cpuinfo", "flags").split()
    return " ".join(flag for flag in wanted if flag in flags)


def commit(root):
    """The commit of the tree, with `-dirty` when it differs from it."""
    asked = subprocess.run(
        ["git", "-C", root, "describe", "--always", "--abbrev=40", "--dirty", "--exclude", "*"],
        capture_output=True, text=True, check=False)
    return asked.stdout.strip() or "unknown"


def contestants(program):
    """The names of those that the program can measure."""
    asked = subprocess.run([program, "contestants"], capture_output=True, text=True, check=True)
    return asked.stdout.split()


def facts(commit_name, program):
    """What a record says of machine and build; `program` tells what it was built from."""
    built = subprocess.run([program, "facts"], capture_output=True, text=True, check=True).stdout
    lines = {
        "date": f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC",
        "commit": commit_name,
        "cpu": f"{_processor()}, {os.cpu_count()} cores, {_isa_flags()}",
        "caches": _caches(),
        "memory": _field("/proc/meminfo", "MemTotal"),
        "kernel": platform.release(),
        "load average before": _first_line("/proc/loadavg"),
        "transparent huge pages": _first_line("/sys/kernel/mm/transparent_hugepage/enabled"),
    }
    return lines | dict(line.partition(": ")[::2] for line in built.splitlines())
