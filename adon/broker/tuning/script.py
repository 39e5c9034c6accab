"""The advice for one host as a file for ``/etc/sysctl.d``, and the command whose output :mod:`reading` reads.

The file is sysctl.d(5): ``key = value`` and comments, nothing else, so that ``sysctl -p FILE`` and the
system's own start take it.  What is no kernel setting (MTU, queues) stands in it as comments with the
commands.
"""

from __future__ import annotations

from collections.abc import Iterator

from adon.broker.tuning.advice import Advice, HostAdvice
from adon.broker.tuning.item import Setting
from adon.units import format_duration, format_rate

FILE = "/etc/sysctl.d/90-adon-transfer.conf"

COMMANDS = {
    "mtu": "ip link set dev {interface} mtu {value}",
    "queue": "ip link set dev {interface} txqueuelen {value}",
    "qdisc": "tc qdisc replace dev {interface} root {value}",
}
"""How an interface gets a setting."""


def sysctl_file(
    advice: Advice, host: HostAdvice, interface: str | None = None, flow: str | None = None
) -> str:
    """The file's text.

    :param interface: the name of the interface; ``INTERFACE`` stands for it where it is not known.
    :param flow: the id of the flow that it is for; None for numbers that were supposed.
    """
    lines = [*_header(advice, host, flow), ""]
    for setting in host.settings:
        if setting.kind == "sysctl":
            lines += [f"# {setting.reason}", f"{setting.key} = {setting.value}"]
    others = [setting for setting in host.settings if setting.kind == "interface"]
    if others:
        lines += ["", "# Of the interface; these last until the next start of the host:"]
        lines += [f"#   {command(setting, interface)}" for setting in others]
    lines += ["", "# To check that it is in force (as root, so that every setting is shown):"]
    lines += [f"#   {line}" for line in verify(advice, host.host, interface, flow)]
    return "\n".join(lines) + "\n"


def _header(advice: Advice, host: HostAdvice, flow: str | None) -> Iterator[str]:
    path = advice.path
    yield f"# {FILE}"
    purpose = "" if flow is None else f", for flow {_plain(flow)}"
    yield f"# TCP settings of {_plain(host.host)}, the {host.role}{purpose}; by ADON."
    if path.rtt is not None and advice.target is not None:
        yield f"# They fit {format_rate(advice.target)} at an RTT of {format_duration(path.rtt.mean)}."
    yield "# The other end needs its own; one end alone gains nothing."
    yield f"# In force after: sysctl -p {FILE}"


def _plain(text: str) -> str:
    """A text that cannot end its comment line."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def command(setting: Setting, interface: str | None) -> str:
    """The command that gives an interface one setting."""
    return COMMANDS[setting.key].format(
        interface="INTERFACE" if interface is None else interface, value=setting.value
    )


def verify(advice: Advice, host: str, interface: str | None, flow: str | None) -> tuple[str, ...]:
    """The commands that show a host's settings, and who reads them."""
    name = "INTERFACE" if interface is None else interface
    show = f"sysctl -a; ip -d link; tc qdisc; ethtool {name}; ss -tin; grep MemTotal /proc/meminfo"
    file = f"{_plain(host)}.txt"
    about = _supposed(advice) if flow is None else f"--flow {_plain(flow)}"
    return f"({show}) 2>/dev/null > {file}", f"adon advice check {file} --host {_plain(host)} {about}"


def _supposed(advice: Advice) -> str:
    """The options that ask for this advice again."""
    rate = "RATE" if advice.target is None else format_rate(advice.target)
    rtt = "RTT" if advice.path.rtt is None else format_duration(advice.path.rtt.mean)
    return f"--rate '{rate}' --rtt '{rtt}'"
