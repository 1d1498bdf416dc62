"""The whole scene set up: the network, the servers on the backends, and a clean end of all of it.
"""

import contextlib
import tomllib

from clients import Clients
from servers import Backend, write_bodies
from topology import Topology


class Scene:
    """Use as `with Scene(config_file, directory) as scene:`. Without static neighbours, the
    balancer's configuration is the file's without its [[neighbour]] tables.
    """

    def __init__(self, config_file, directory, has_static_neighbours=True, rate=0):
        self.has_static_neighbours = has_static_neighbours
        self.config_file = config_file
        self.config = tomllib.loads(config_file.read_text())
        self.directory = directory
        self.rate = rate  # of each web answer, in nginx's words
        self.backends = []

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.network = stack.enter_context(
                Topology(self.config, self.has_static_neighbours)
            )
            self.clients = Clients(self.network.client, self.network.client_addresses())
            bodies = self.directory / "bodies"
            write_bodies(bodies)
            port = self.service("web")["backends"][0]["port"]
            for number, (name, addresses) in enumerate(
                self.network.backend_addresses().items(), start=11
            ):
                backend = Backend(
                    name,
                    number,
                    self.network.backends[name],
                    addresses,
                    port,
                    self.directory / name,
                    bodies,
                    self.rate,
                )
                self.backends.append(backend)
                stack.callback(backend.stop)
            for backend in self.backends:
                backend.wait_until_ready()
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def service(self, name):
        return next(s for s in self.config["service"] if s["name"] == name)
