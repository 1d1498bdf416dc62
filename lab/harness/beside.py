"""Modules of an experiment's folder, whose name is no package's."""
import importlib.util
import sys
from pathlib import Path


def beside(experiment_file, name):
    """The module in file `name`.py of the folder that `experiment_file` is in."""
    folder = Path(experiment_file).parent
    spec = importlib.util.spec_from_file_location(f"{folder.name}/{name}", folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
