"""Machines for simulated experiments, written from what `roost-halo machine --print` prints: with
other switches, and with numbers that are closed. A closed number is the same on every machine."""
import random
import re
import subprocess

SECTION = re.compile(r"\[(\w+)\]")
NUMBER = re.compile(r"(\w+) = \{ unit = \"([^\"]*)\", low = (\d+), middle = (\d+), high = (\d+), "
                    r"source = \"([^\"]*)\"")
SWITCH = re.compile(r"(\w+) = \{ value = \"([\w-]+)\"")


def default_machine(roost_halo):
    return subprocess.run([roost_halo, "machine", "--print"], capture_output=True, text=True,
                          check=True).stdout


def numbers_of(text):
    """{name: (unit, low, middle, high, source)}; names with their section before."""
    found, section = {}, ""
    for line in text.splitlines():
        if begins := SECTION.match(line):
            section = begins[1]
        elif number := NUMBER.match(line):
            name, unit, low, middle, high, source = number.groups()
            found[f"{section}.{name}"] = (unit, int(low), int(middle), int(high), source)
    return found


def switches_of(text):
    return {found[1]: found[2] for line in text.splitlines() if (found := SWITCH.match(line))}


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
    lines, section = [], ""
    for line in text.splitlines():
        if begins := SECTION.match(line):
            section = begins[1]
        elif (number := NUMBER.match(line)) and f"{section}.{number[1]}" in closed:
            value = closed[f"{section}.{number[1]}"]
            line = re.sub(r"low = \d+, middle = \d+, high = \d+",
                          f"low = {value}, middle = {value}, high = {value}", line)
        elif (switch := SWITCH.match(line)) and switch[1] in switches:
            line = line.replace(f'"{switch[2]}"', f'"{switches[switch[1]]}"', 1)
        lines.append(line)
    return "\n".join(lines) + "\n"
