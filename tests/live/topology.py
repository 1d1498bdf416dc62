"""The network of the live test: namespaces joined by veth pairs, after the balancer's own
configuration.

    client ── lb ─── switch ──┬─ b1
            (roost) (bridge)  ├─ b2
                              └─ b3

Addresses and MACs come from the TOML file that `roost lb` reads, so that the two cannot disagree.
With `[[neighbour]]` in the file all neighbours are static, the hosts' too; without, everybody asks.
"""

import ipaddress

from namespaces import LB_INTERFACES, NO_IPV6, QUIET_IPV6, NamespaceNetwork, link

MANAGEMENT_ADDRESS = "10.0.0.200/24"


class Topology(NamespaceNetwork):
    def __init__(self, config, has_static_neighbours=True):
        self.config = config
        self.has_static_neighbours = has_static_neighbours
        self.backends = {}

    def _build(self):
        self.client = self.add_namespace("client", QUIET_IPV6)
        self.switch = self.add_namespace("switch", NO_IPV6)
        self.switch.add_bridge("bridge")
        self.lb = self.add_balancer("lb", "eth0", [port["mac"] for port in self.config["port"]])

        # The balancer's kernel has a way of its own to the backends, for health checks.
        self.switch.plug("bridge", "manage", self.lb, "manage")
        self.lb.ip("address", "add", MANAGEMENT_ADDRESS, "dev", "manage")

        self._host(self.client, self.config["port"][0], self.client_addresses())
        for name, addresses in self.backend_addresses().items():
            backend = self.add_namespace(name, QUIET_IPV6)
            self.backends[name] = backend
            self.switch.plug("bridge", name, backend, "eth0")
            self._host(backend, self.config["port"][1], addresses)

    def add_balancer(self, role, client_interface, macs):
        """A namespace with a wire to the clients and one to the backends, by these MACs."""
        balancer = self.add_namespace(role, NO_IPV6)
        link(balancer, LB_INTERFACES[0], self.client, client_interface)
        self.switch.plug("bridge", role, balancer, LB_INTERFACES[1])
        for interface, mac in zip(LB_INTERFACES, macs):
            balancer.ip("link", "set", interface, "address", mac)
        return balancer

    def _host(self, namespace, gateway, addresses):
        """Gives a host its MAC and addresses, and the balancer's port as its only neighbour and its
        default route.
        """
        macs = {n["address"]: n["mac"] for n in self.config["neighbour"]}
        namespace.ip("link", "set", "eth0", "address", macs[addresses[0]], "up")
        namespace.give("eth0", addresses)
        for address in gateway["addresses"]:
            via = address.split("/")[0]
            if self.has_static_neighbours:
                namespace.ip(
                    *("neigh", "replace", via, "lladdr", gateway["mac"]),
                    *("dev", "eth0", "nud", "permanent"),
                )
            namespace.ip("route", "add", "default", "via", via, "dev", "eth0")

    def split_backends_side(self):
        """A namespace that takes the balancer's interface towards the backends over."""
        inner = self.add_namespace("inner", NO_IPV6)
        name = LB_INTERFACES[1]
        self.lb.ip("link", "set", name, "netns", inner.name)
        inner.ip("link", "set", name, "up")
        return inner

    def join_client_by(self, tap):
        """The client has the kernel's end of this tap of the balancer's instead of its wire."""
        self.lb.ip("link", "delete", LB_INTERFACES[0])
        self.lb.ip("link", "set", tap, "name", "eth0", "netns", self.client.name)
        self._host(self.client, self.config["port"][0], self.client_addresses())

    def client_addresses(self):
        networks = [ipaddress.ip_interface(a).network for a in self.config["port"][0]["addresses"]]
        addresses = [n["address"] for n in self.config["neighbour"]]
        return [
            a for a in addresses if any(ipaddress.ip_address(a) in network for network in networks)
        ]

    def backend_addresses(self):
        """The addresses of each backend, by its name."""
        addresses = {}
        for service in self.config["service"]:
            for backend in service["backends"]:
                known = addresses.setdefault(backend["name"], [])
                if backend["address"] not in known:
                    known.append(backend["address"])
        return addresses
