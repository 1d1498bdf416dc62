"""Machines for simulated experiments, written from what `roost-halo machine --print` prints: with
other switches, and with numbers that are closed. A closed number is the same on every machine."""
import json
import random
import subprocess
import tomllib

ENDS = ("low", "middle", "high")


def default_machine(roost_halo):
    return subprocess.run([roost_halo, "machine", "--print"], capture_output=True, text=True,
                          check=True).stdout


def numbers_of(text):
    """{name: (unit, low, middle, high, source)}; names with their section before."""
    return {f"{table}.{name}": tuple(number[field] for field in ("unit", *ENDS, "source"))
            for table, numbers in tomllib.loads(text).items() if table != "switches"
            for name, number in numbers.items()}


def switches_of(text):
    return {name: switch["value"] for name, switch in tomllib.loads(text)["switches"].items()}


def drawn(text, draw):
    """Every number of one machine: all in the middle for 0, else each low, middle or high by
    chance. Equal numbers give equal machines."""
    chance = random.Random(draw)
    return {name: values[2] if draw == 0 else chance.choice(values[1:4])
            for name, values in numbers_of(text).items()}


def changed(text, switches, closed):
    """The machine with some switches set and some numbers closed, each by its name."""
    unknown = (set(switches) - set(switches_of(text))) | (set(closed) - set(numbers_of(text)))
    if unknown:
        raise ValueError(f"the machine has no {', '.join(sorted(unknown))}")
    machine = tomllib.loads(text)
    for name, value in closed.items():
        table, number = name.split(".")
        machine[table][number] |= dict.fromkeys(ENDS, value)
    for name, value in switches.items():
        machine["switches"][name]["value"] = value
    return written(machine)


def written(machine):
    """The file of what tomllib reads of one."""
    lines = []
    for table, entries in machine.items():
        lines += ["", f"[{table}]"]
        for name, entry in entries.items():
            fields = ", ".join(f"{field} = {json.dumps(value, ensure_ascii=False)}"
                               for field, value in entry.items())
            lines.append(f"{name} = {{ {fields} }}")
    return "\n".join(lines[1:]) + "\n"
