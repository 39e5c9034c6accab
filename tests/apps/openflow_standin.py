"""A small OpenFlow 1.3 switch over a real socket, which misbehaves when told to.

It holds no rules and reports none; flow-mods are parsed by os-ken and kept for the test to look at.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable
from typing import Any, Self

from os_ken.ofproto import ofproto_parser
from os_ken.ofproto import ofproto_v1_3 as ofp
from os_ken.ofproto.ofproto_protocol import ProtocolDesc


class StandInSwitch:
    """Connects to a controller and answers it, until closed.

    ``on_flow_mod`` is called with each flow-mod and returns an (error type, code), or None to accept it.
    """

    def __init__(self, dpid: int, ports: tuple[str, ...], controller: int) -> None:
        self.on_flow_mod: Callable[[Any], tuple[int, int] | None] = lambda _: None
        self.answers_barriers = True
        self.answers_stats = True
        self.answers_echoes = True
        self.flow_mods: list[Any] = []
        self.barriers: list[int] = []
        self._dpid, self._ports = dpid, ports
        self._protocol = ProtocolDesc(version=ofp.OFP_VERSION)
        self._socket = socket.create_connection(("127.0.0.1", controller), timeout=60)
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> Self:
        bitmap = struct.pack("!HHI", ofp.OFPHET_VERSIONBITMAP, 8, 1 << ofp.OFP_VERSION)
        self._reply(ofp.OFPT_HELLO, 1, bitmap)
        self._thread.start()
        return self

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.hang_up()
        self._thread.join(60)

    def hang_up(self) -> None:
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            return
        finally:
            self._socket.close()

    @property
    def dropped(self) -> bool:
        """Whether the controller ended the connection."""
        return not self._thread.is_alive()

    def say(self, data: bytes) -> None:
        self._socket.sendall(data)

    def _run(self) -> None:
        try:
            while True:
                header = self._exactly(8)
                _, kind, length, xid = struct.unpack("!BBHI", header)
                self._answer(kind, xid, header + self._exactly(length - 8))
        except OSError:
            return

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = self._socket.recv(size - len(data))
            if not part:
                raise ConnectionError
            data += part
        return data

    def _answer(self, kind: int, xid: int, data: bytes) -> None:
        match kind:
            case ofp.OFPT_FEATURES_REQUEST:
                self._reply(
                    ofp.OFPT_FEATURES_REPLY, xid, struct.pack("!QIBBxxII", self._dpid, 0, 254, 0, 0, 0)
                )
            case ofp.OFPT_MULTIPART_REQUEST:
                (what,) = struct.unpack_from("!H", data, 8)
                if what == ofp.OFPMP_PORT_DESC:
                    self._reply(
                        ofp.OFPT_MULTIPART_REPLY, xid, struct.pack("!HHxxxx", what, 0) + self._descriptions()
                    )
                elif self.answers_stats:
                    self._reply(ofp.OFPT_MULTIPART_REPLY, xid, struct.pack("!HHxxxx", what, 0))
            case ofp.OFPT_FLOW_MOD:
                self._change(
                    ofproto_parser.msg(self._protocol, ofp.OFP_VERSION, kind, len(data), xid, data), data
                )
            case ofp.OFPT_ROLE_REQUEST:
                self._reply(ofp.OFPT_ROLE_REPLY, xid, data[8:])
            case ofp.OFPT_BARRIER_REQUEST if self.answers_barriers:
                self.barriers.append(xid)
                self._reply(ofp.OFPT_BARRIER_REPLY, xid, b"")
            case ofp.OFPT_ECHO_REQUEST if self.answers_echoes:
                self._reply(ofp.OFPT_ECHO_REPLY, xid, data[8:])

    def _change(self, message: Any, data: bytes) -> None:
        self.flow_mods.append(message)
        refusal = self.on_flow_mod(message)
        if refusal is not None:
            self._reply(ofp.OFPT_ERROR, message.xid, struct.pack("!HH", *refusal) + data[:64])

    def _reply(self, kind: int, xid: int, body: bytes) -> None:
        self.say(struct.pack("!BBHI", ofp.OFP_VERSION, kind, 8 + len(body), xid) + body)

    def _descriptions(self) -> bytes:
        return b"".join(
            struct.pack(
                "!I4x6s2x16sIIIIIIII", number, bytes([2, 0, 0, 0, 0, number]), name.encode(), *[0] * 8
            )
            for number, name in enumerate(self._ports, 1)
        )
