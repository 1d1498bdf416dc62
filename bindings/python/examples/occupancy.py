"""How a table fills: the entries of its buckets, and how many of them live in their second bucket.

    python occupancy.py [--slots 4194304] [--seed 1] [--out occupancy.png]

Fills one table to several loads and draws both histograms, and what the paper says of the second:
the moved count of more than half of the buckets is zero even at a load of 95 % (N. Le Scouarnec:
Cuckoo++ Hash Tables, ANCS 2018, figure 5).
"""

# %%
import argparse

import matplotlib.pyplot as plt
import numpy
import roost

LOADS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
PAPER_LOAD, PAPER_ZEROS = 0.95, 0.5


# %%
def fill(slots, seed):
    """A row a load: the share of buckets by entries (0 to 8), and by moved count (0 to 16)."""
    table = roost.Table(key_bytes=16, value_bytes=8, capacity=slots, seed=seed)
    capacity = table.info()["capacity"]
    keys = numpy.random.default_rng(seed)
    occupancy, moved = [], []
    for load in LOADS:
        missing = round(load * capacity) - len(table)
        batch = keys.integers(0, 2**64, (missing, 2), dtype="u8")
        outcomes = table.insert(batch, numpy.arange(missing, dtype="u8"))
        if (outcomes == roost.Outcome.FULL).any():
            raise SystemExit(f"{slots} slots are too few for a load of {load}; take 4096 or more")
        occupancy.append(table.occupancy())
        moved.append(table.stats()["moved_histogram"])
    bucket_count = table.info()["bucket_count"]
    return numpy.array(occupancy) / bucket_count, numpy.array(moved) / bucket_count


# %%
def draw_shares(axes, shares, labels):
    colors = plt.cm.viridis(numpy.linspace(0.92, 0.05, len(LOADS)))
    for row, load, color in zip(shares, LOADS, colors):
        axes.plot(row, "o-", color=color, label=f"{load:.0%}", markersize=5, linewidth=1.6)
    axes.set_xticks(range(len(labels)), labels)
    axes.legend(title="load", frameon=False)


def draw_zeros(axes, zeros):
    """The share of buckets whose moved count is zero, and where the paper has it."""
    axes.fill_between([LOADS[0], PAPER_LOAD], PAPER_ZEROS, 1, color="tab:red", alpha=0.08)
    axes.plot([LOADS[0], PAPER_LOAD], [PAPER_ZEROS] * 2, "--", color="tab:red", linewidth=1.4,
              label="paper: above this line up to a load of 95%")
    axes.plot(LOADS, zeros, "o-", color="tab:blue", linewidth=1.8, label="roost")
    here = zeros[LOADS.index(PAPER_LOAD)]
    axes.annotate(f"{here:.1%} at 95%", (PAPER_LOAD, here), xytext=(-10, -6), ha="right",
                  va="top", textcoords="offset points", color="tab:blue")
    axes.set_xlim(0.48, 1)
    axes.xaxis.set_major_formatter("{x:.0%}")
    axes.legend(frameon=False, loc="lower left")


def draw(occupancy, moved, slots, path):
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(15, 5), layout="constrained")
    draw_shares(left, occupancy, range(9))
    left.set(title="How full the buckets are", xlabel="entries in a bucket of 8 slots",
             ylabel="share of buckets")
    shown = 13
    draw_shares(middle, moved[:, :shown], range(shown))
    middle.set(title="How many of a bucket's entries moved away", ylabel="share of buckets",
               xlabel="moved count: entries in their secondary bucket")
    middle.plot([-0.35, 0.35], [PAPER_ZEROS] * 2, "--", color="tab:red", linewidth=1.4)
    middle.annotate("paper: at 95%, zero is above this", (0.35, PAPER_ZEROS), xytext=(8, 0),
                    textcoords="offset points", va="center", color="tab:red")
    draw_zeros(right, moved[:, 0])
    right.set(title="Buckets from which none moved away", xlabel="load",
              ylabel="share of buckets with moved count 0")
    for axes in (left, middle, right):
        axes.set_ylim(0, 1.02)
        axes.yaxis.set_major_formatter("{x:.0%}")
        axes.grid(axis="y", color="0.9")
        axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"A roost table of {slots:,} slots, filled with random keys\n", fontsize=14)
    figure.savefig(path, dpi=120)


# %%
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--slots", type=int, default=1 << 22)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="occupancy.png")
    arguments = parser.parse_args()
    occupancy, moved = fill(arguments.slots, arguments.seed)
    print("load    mean entries   full buckets   moved count 0")
    for load, entries, zeros in zip(LOADS, occupancy, moved[:, 0]):
        mean = entries @ numpy.arange(9)
        print(f"{load:4.0%}  {mean:14.3f}  {entries[8]:13.1%}  {zeros:14.1%}")
    draw(occupancy, moved, arguments.slots, arguments.out)
    print(f"drawn: {arguments.out}")


if __name__ == "__main__":
    main()
