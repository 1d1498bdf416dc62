"""Open vSwitch's userspace datapath, in a namespace or without: its two daemons, started and
stopped by hand, with all their files in one folder. It needs no module of the kernel.
"""

import os
import pathlib
import subprocess

from namespaces import wait_for

SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"


class OpenVswitch:
    """Use as `with OpenVswitch(namespace, directory, ports) as ovs:`; `ports` are pairs of an
    interface and what ovs-vsctl says of a port of it.
    """

    def __init__(self, namespace, directory, ports, program="ovs-vswitchd", settings=(),
                 datapath="netdev", options=()):
        """`program` is the switch itself, and `options` are its own; `settings` are columns of the
        table Open_vSwitch. `datapath` is "dummy" for one without an interface of the kernel's.
        """
        self.namespace = namespace
        self.program = program
        self.settings = settings
        self.datapath = datapath
        self.options = options
        self.directory = directory
        self.ports = ports
        self.daemons = []
        directory.mkdir()
        self.environment = dict(
            os.environ, OVS_RUNDIR=str(directory), OVS_LOGDIR=str(directory),
            OVS_DBDIR=str(directory),
        )
        self.socket = f"unix:{directory}/db.sock"

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def _start(self):
        database = self.directory / "conf.db"
        self._run("ovsdb-tool", "create", database, SCHEMA)
        self._daemon("ovsdb-server", database, f"--remote=p{self.socket}")
        socket, log = self.directory / "db.sock", self._log("ovsdb-server")
        wait_for("ovsdb-server listens", socket.exists, log)
        self._control("--no-wait", "init")
        if self.settings:
            self._control("--no-wait", "set", "Open_vSwitch", ".", *self.settings)
        self._daemon(self.program, self.socket, *self.options)
        words = ["add-br", "br0", "--", "set", "bridge", "br0", f"datapath_type={self.datapath}"]
        for interface, settings in self.ports:
            words += ["--", "add-port", "br0", interface, *settings]
        self._control("--timeout=20", *words)

    @property
    def control_socket(self):
        """Of the running switch: where ovs-appctl asks."""
        name = pathlib.Path(self.program).name
        pid = (self.directory / f"{name}.pid").read_text().strip()
        return self.directory / f"{name}.{pid}.ctl"

    def ask(self, *words):
        """The running switch, by ovs-appctl."""
        return self._run("ovs-appctl", "-t", self.control_socket, *words)

    def replace_flows(self, flows):
        """OpenFlow's, of br0."""
        self._run("ovs-ofctl", "--bundle", "replace-flows", self._bridge, "-",
                  input="\n".join(flows) + "\n")

    def ask_flows(self, command, *words):
        """br0, by a command of ovs-ofctl."""
        return self._run("ovs-ofctl", command, self._bridge, *words)

    @property
    def _bridge(self):
        return f"unix:{self.directory}/br0.mgmt"

    def _daemon(self, program, *arguments):
        command = [*self.namespace.prefix, program, *arguments, "--no-chdir", "--pidfile"]
        self.daemons.append(
            subprocess.Popen(
                command,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._log(pathlib.Path(program).name).open("w"),
            )
        )

    def _log(self, program):
        return self.directory / f"{program}.log"

    def _control(self, *words):
        return self._run("ovs-vsctl", f"--db={self.socket}", *words)

    def _run(self, *command, **options):
        told = subprocess.run(
            [*self.namespace.prefix, *command],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            **options,
        )
        assert told.returncode == 0, f"{command}: {told.stderr}"
        return told.stdout
