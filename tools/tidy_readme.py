"""The README's commands: every one is known, and those that are cheap run."""

import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile

from tidy_tree import Finding

# Not run by the readme stage: the test run itself and what it has as a stage, and what takes
# minutes or deletes.
NOT_RUN = {"test", "check", "stage", "setup", "fuzz", "lab", "clean"}
SHELL_FENCES = {"sh", "shell", "bash", "console"}
OTHER_PROGRAMS = {"git", "cd", "tshark", "wireshark", "cmake", "ninja", "ctest", "pkg-config", "cc",
                  "c++", "export"}


def commands(text):
    """(line, command, fence language) of fenced blocks; continuation lines are joined."""
    language = None
    pending = ""
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"\s*```\s*(\w*)", line)
        if fence:
            language = None if language is not None else fence.group(1)
        elif language is not None:
            line = pending + line.strip().removeprefix("$ ")
            pending = line[:-1] if line.endswith("\\") else ""
            if line and not pending and not line.startswith("#"):
                yield number, line, language


def words_of(command):
    try:
        return shlex.split(command, comments=True)
    except ValueError:
        return command.split()


def readme_commands_are_known(tree):
    if not tree.exists("README.md"):
        return
    known = set(re.findall(r"^\./dev (\w+)", tree.text("dev"), re.MULTILINE))
    sources = "".join(tree.text(path) for path in tree.cpp("apps/", "roost/"))
    for number, command, language in commands(tree.text("README.md")):
        words = words_of(command)
        if not words:
            continue
        program = words[0].removeprefix("./")
        if program == "dev":
            if len(words) < 2 or words[1] not in known:
                yield Finding("readme", "README.md", number,
                              f"`{command}`: ./dev help does not know it")
        elif program.rsplit("/", 1)[-1] == "roost":
            function = words[1] if len(words) > 1 else "--help"
            there = any(path.startswith(f"apps/{function}/") for path in tree.files)
            if not function.startswith("-") and not there:
                yield Finding("readme", "README.md", number,
                              f"`{command}`: no network function {function}")
            own = words[:words.index("--")] if "--" in words else words
            for option in (word for word in own if word.startswith("--")):
                if option not in sources:
                    yield Finding("readme", "README.md", number,
                                  f"`{command}`: no option {option}")
        elif (language in SHELL_FENCES and program not in OTHER_PROGRAMS
              and not program.startswith("out/")):
            yield Finding("readme", "README.md", number,
                          f"`{command}`: cannot tell that {program} works")


def shown_output(text):
    """{command: the lines that a block marked text, right after the command's, says it prints}."""
    found = {}
    last = None
    for language, body in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if language == "text" and last:
            found[last] = body.splitlines()
        last = body.strip() if language != "text" else None
    return found


def not_printed(shown, printed):
    """The first line shown that was not printed, or not after those before it; `...` stands for
    any lines."""
    rest = iter(printed)
    return next((line for line in shown if line != "..." and line not in rest), None)


def run_and_read(command, folder):
    """(exit status, lines printed), which are shown as they come."""
    lines = []
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line.rstrip())
    return process.returncode, lines


def run_script(tree, script):
    print(f"README:\n{script}", flush=True)
    if subprocess.run(["sh", "-eu", "-c", script], cwd=tree.root).returncode != 0:
        print("README.md: this script fails")
        return 1
    return 0


def run_readme(tree):
    """Runs the ./dev commands in an empty folder; captures they name are the demonstration's.
    Blocks marked sh are scripts, and run as they stand, in the tree. What a block marked text shows
    of the output of the command before it must be in it."""
    shown = shown_output(tree.text("README.md"))
    blocks = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    for script in blocks.findall(tree.text("README.md")):
        if run_script(tree, script) != 0:
            return 1
    for _, command, language in commands(tree.text("README.md")):
        words = words_of(command)
        if language == "sh" or words[:1] != ["./dev"] or words[1] in NOT_RUN:
            continue
        with tempfile.TemporaryDirectory() as folder:
            for word in words[2:]:
                if word.endswith(".pcap"):
                    shutil.copy(tree.root / "demo/lb/client.pcap", pathlib.Path(folder) / word)
                if word.endswith(".toml"):
                    shutil.copy(tree.root / "demo/lb/lb.toml", pathlib.Path(folder) / word)
            print(f"README: {command}", flush=True)
            status, printed = run_and_read([tree.root / "dev", *words[1:]], folder)
            if status != 0:
                print(f"README.md: `{command}` fails")
                return 1
            missed = not_printed(shown.get(command, []), printed)
            if missed is not None:
                print(f"README.md: `{command}` does not print this line, or not here:\n{missed}")
                return 1
    return 0


def budgets_are_told(tree):
    """CONTRIBUTING's table has the budgets by which tools/stages.sh judges a run."""
    if not (tree.exists("tools/stages.sh") and tree.exists("CONTRIBUTING.md")):
        return
    text = tree.text("tools/stages.sh")
    listed = re.search(r"^stages='([^']*)'", text, re.MULTILINE)
    budgets = dict(entry.split(":") for entry in listed.group(1).split())
    told = dict(re.findall(r"^\| `(\w+)` \| (\d+) \|", tree.text("CONTRIBUTING.md"), re.MULTILINE))
    for stage in budgets.keys() | told.keys():
        if budgets.get(stage) != told.get(stage):
            yield Finding("budget", "CONTRIBUTING.md", 1,
                          f"stage {stage}: {told.get(stage, 'no budget')} here, "
                          f"{budgets.get(stage, 'no stage')} in tools/stages.sh")


RULES = [readme_commands_are_known, budgets_are_told]
