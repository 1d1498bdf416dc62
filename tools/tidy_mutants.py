"""Rule about planted bugs: each can be planted in the tree as it is, and its tests are there.

A bug that cannot be planted protects nothing, and moved code is what breaks it: so this is noticed
by the lint, with the change that moves the code.
"""

import mutant_list
from tidy_tree import Finding


def mutants_can_be_planted(tree):
    mutants, faults = mutant_list.read(tree)
    for fault in faults:
        yield Finding("mutants", *fault)
    for mutant in mutants:
        for message in mutant_list.faults_of_planting(tree, mutant):
            yield Finding("mutants", mutant.path, mutant.line, f"{mutant.name}: {message}")


RULES = [mutants_can_be_planted]
