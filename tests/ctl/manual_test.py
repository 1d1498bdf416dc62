#!/usr/bin/python3
"""The manual pages and the completion say what the program does: every command and parameter of its
list, and none besides.

    tests/ctl/manual_test.py ROOST
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAN = ROOT / "apps/program/man"
COMPLETION = ROOT / "apps/program/completion/roost"


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def words_for(*words):
    """What bash offers behind these words."""
    script = f"""
source {COMPLETION}
COMP_WORDS=({' '.join(words)} '')
COMP_CWORD={len(words)}
_roost
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    return set(output_of("bash", "-c", script).split())


def check_usage(roost):
    """The functions. Each line has its text in the same column, apart from its usage."""
    lines = re.findall(r"^  roost .*", output_of(roost, "--help"), re.MULTILINE)
    columns = {len(re.match(r" +\S+(?: \S+)*  +", line)[0]) for line in lines}
    assert len(columns) == 1, "\n".join(lines)
    names = list(dict.fromkeys(line.split()[1] for line in lines))
    assert names[-1] == "ctl" and len(names) > 2, names
    return names[:-1]


def check_pages():
    for page in sorted(MAN.iterdir()):
        lint = subprocess.run(
            ["mandoc", "-T", "lint", "-W", "warning", page],
            capture_output=True,
            text=True,
            check=False,
        )
        assert lint.returncode == 0 and not lint.stdout, lint.stdout


def check_manual(commands):
    text = (MAN / "roost-ctl.8").read_text()
    section = text[text.index(".Sh COMMANDS") : text.index(".Sh FILES")]
    told = re.findall(r"^\.It Cm (\w+)", section, re.MULTILINE)
    assert told == [command["name"] for command in commands], told
    options = set(re.findall(r"Fl -(\w+)", section))
    names = {
        parameter["name"]
        for command in commands
        for parameter in command["parameters"]
        if not parameter["is_positional"]
    }
    assert options == names, options ^ names
    words = set(re.findall(r"\w+", section))
    for command in commands:
        for parameter in command["parameters"]:
            missing = set(parameter["choices"]) - words
            assert not missing, f"{command['name']}: the manual has not {missing}"


def commands_of(roost, function):
    """(name, words) of a function, which has no name, and of the commands that it may have."""
    _, _, listed = output_of(roost, function, "--help").partition("Subcommands:\n")
    names = re.findall(r"^  (\w+)", listed.split("\n\n")[0], re.MULTILINE)
    return [("", function)] + [(name, function, name) for name in names]


def check_function_manual(roost, function):
    assert f".Xr roost-{function} 8" in (MAN / "roost.1").read_text()
    text = (MAN / f"roost-{function}.8").read_text()
    told = set(re.findall(r"^\.It.*Fl -(\w+)", text, re.MULTILINE))
    commands = commands_of(roost, function)
    words = words_for("roost", function)
    assert {word for word in words if word[0] != "-"} == {name for name, *_ in commands if name}
    known = set()
    for _, *command in commands:
        usage = output_of(roost, *command, "--help")
        own = set(re.findall(r"^  (?:-\w,)?--(\w+)", usage, re.MULTILINE))
        options = {word for word in words_for("roost", *command) if word.startswith("--")}
        assert {option.removeprefix("--").split("-")[0] for option in options} == own, options
        known |= own
    assert told == known - {"help"}, (told, known)


def check_completion(functions, commands):
    names = {command["name"] for command in commands}
    assert words_for("roost") == {*functions, "ctl", "--help"}
    offered = {word for word in words_for("roost", "ctl") if not word.startswith("-")}
    assert offered == names, offered ^ names
    for command in commands:
        words = words_for("roost", "ctl", command["name"])
        first = next((p for p in command["parameters"] if p["is_positional"]), None)
        expected = set(first["choices"]) if first else set()
        assert {word for word in words if not word.startswith("-")} == expected, words
        behind = ["roost", "ctl", command["name"], *sorted(expected)[:1]]
        options = {word for word in words_for(*behind) if word.startswith("--")}
        named = {f"--{p['name']}" for p in command["parameters"] if not p["is_positional"]}
        assert options == named | {"--json", "--help"}, (command["name"], options)
        for parameter in command["parameters"]:
            if parameter["choices"] and not parameter["is_positional"]:
                offered = words_for(*behind, f"--{parameter['name']}")
                assert offered == set(parameter["choices"]), offered


def main():
    roost = pathlib.Path(sys.argv[1]).resolve()
    commands = json.loads(output_of(roost, "ctl", "--commands"))
    functions = check_usage(roost)
    check_pages()
    check_manual(commands)
    for function in functions:
        check_function_manual(roost, function)
    check_completion(functions, commands)
    print(f"{len(commands)} commands: the manual and the completion have them all")


if __name__ == "__main__":
    main()
