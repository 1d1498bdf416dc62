"""Which worker a client's flows belong to, by a model of the balancer's own rule
(roost/node/flow_owner.h, roost/hash/keyed_hash.h) that shares nothing with it.
"""

import ipaddress

MASK = (1 << 64) - 1


def secret_words(seed):
    """SplitMix64 from the seed on."""
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        word = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
        yield word ^ (word >> 31)


def fold(a, b):
    return (a * b >> 64) ^ (a * b & MASK)


def keyed_hash(data, seed):
    """Of at most 16 bytes, zeros behind them up to whole words."""
    source = secret_words(seed)
    secret = [next(source) for _ in range(12)]
    words = [
        int.from_bytes(data[at : at + 8].ljust(8, b"\0"), "little")
        for at in range(0, len(data), 8)
    ]
    if len(words) == 1:
        state = fold(words[0] ^ secret[0], secret[8] ^ secret[9])
    else:
        state = fold(words[0] ^ secret[0], words[1] ^ secret[1] ^ secret[8])
    return fold(state ^ secret[10], len(words) ^ secret[11])


def owner_of(address, workers, hash_seed):
    """`hash_seed` as in the configuration; workers are told apart by the next one."""
    value = keyed_hash(ipaddress.ip_address(address).packed, hash_seed + 1)
    return (value >> 32) * workers >> 32


def seed_that_splits(addresses, workers):
    """The first hash_seed that gives each worker clients of either family."""
    families = [[a for a in addresses if (":" in a) == is_ipv6] for is_ipv6 in (False, True)]
    if any(len(family) < workers for family in families):
        raise ValueError(f"not each of {workers} workers can have a client of {families}")
    seed = 1
    while any(len({owner_of(a, workers, seed) for a in f}) < workers for f in families):
        seed += 1
    return seed
