"""The rules of a configuration of `roost firewall` as an nftables script: what the same rules mean
to the kernel.
"""

ACTIONS = {"allow": ["accept"], "deny": ["drop"],
           "reject": ["meta l4proto tcp reject with tcp reset",
                      "reject with icmpx type port-unreachable"]}
PROTOCOLS = {"icmpv6": "ipv6-icmp"}


def ends_of(elements):
    """(port numbers, networks by family) of a rule's `from` or `to`."""
    ports = [int(one.split()[1]) for one in elements if one.startswith("port ")]
    networks = [one for one in elements if not one.startswith("port ")]
    return ports, [[one for one in networks if (":" in one) == is_ipv6] for is_ipv6 in (0, 1)]


def set_of(elements):
    return "{ " + ", ".join(map(str, elements)) + " }"


def matches_of(rule, interfaces):
    """A rule's conditions: one list a family, if it names networks."""
    common = []
    sides = []
    for key, word in (("from", "iifname"), ("to", "oifname")):
        ports, networks = ends_of(rule.get(key, []))
        if ports:
            common.append(f"{word} {set_of(interfaces[port] for port in ports)}")
        sides.append(networks)
    protocol = rule.get("protocol")
    if protocol:
        common.append(f"meta l4proto {PROTOCOLS.get(protocol, protocol)}")
    for key, word in (("source_ports", "sport"), ("ports", "dport")):
        if rule.get(key):
            common.append(f"th {word} {set_of(rule[key])}")
    if not any(any(networks) for networks in sides):
        return [common]
    lists = []
    for family, word in ((0, "ip"), (1, "ip6")):
        named = [(networks[family], end) for networks, end in zip(sides, ("saddr", "daddr"))
                 if any(networks)]
        if all(networks for networks, _ in named):
            lists.append([f"{word} {end} {set_of(networks)}" for networks, end in named] + common)
    return lists


def nft_script(config, interfaces):
    """`config`: the TOML as a dict; `interfaces`: names, in the order of its ports."""
    lines = ["table inet filter {", "  chain forward {",
             "    type filter hook forward priority 0; policy drop;",
             "    ct state established,related accept"]
    for rule in config.get("rule", []):
        for match in matches_of(rule, interfaces):
            for action in ACTIONS[rule["action"]]:
                lines.append("    " + " ".join(["ct state new", *match, action]))
    return "\n".join([*lines, "  }", "}", ""])
