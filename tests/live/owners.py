"""Which worker a client's flows belong to, by a model of the balancer's own rule
(roost/node/flow_owner.h, roost/net/rss.h, roost/hash/keyed_hash.h) that shares nothing with it.
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


def keyed_hash(word, seed):
    """Of one word of 8 bytes."""
    source = secret_words(seed)
    secret = [next(source) for _ in range(12)]
    state = fold(word ^ secret[0], secret[8] ^ secret[9])
    return fold(state ^ secret[10], 1 ^ secret[11])


def toeplitz(data, key):
    """For each bit of the data that is one, the 32 bits of the key from there on, added up."""
    bits = int.from_bytes(key, "big")
    sum_of_windows = 0
    for at in range(8 * len(data)):
        if data[at // 8] >> (7 - at % 8) & 1:
            sum_of_windows ^= bits >> (8 * len(key) - 32 - at) & 0xFFFFFFFF
    return sum_of_windows


def owner_of(address, workers, hash_seed):
    """`hash_seed` as in the configuration; the key that tells workers apart is of the next one."""
    key = bytes(keyed_hash(i, hash_seed + 1) & 0xFF for i in range(52))
    return toeplitz(ipaddress.ip_address(address).packed, key) % 128 % workers


def seed_that_splits(addresses, workers):
    """The first hash_seed that gives each worker clients of either family."""
    families = [[a for a in addresses if (":" in a) == is_ipv6] for is_ipv6 in (False, True)]
    if any(len(family) < workers for family in families):
        raise ValueError(f"not each of {workers} workers can have a client of {families}")
    seed = 1
    while any(len({owner_of(a, workers, seed) for a in f}) < workers for f in families):
        seed += 1
    return seed
