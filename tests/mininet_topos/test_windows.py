from __future__ import annotations

import socket
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest

from mininet_topos import windows


@pytest.mark.parametrize(("buffer", "option"), [("send", socket.SO_SNDBUF), ("receive", socket.SO_RCVBUF)])
def test_the_kernel_reserves_twice_the_window(buffer, option):
    with socket.socket() as sock:
        windows.limit(sock, buffer, 160_000)
        assert sock.getsockopt(socket.SOL_SOCKET, option) == 320_000


def test_a_window_that_the_kernel_does_not_give_is_said(monkeypatch):
    """Without the right to exceed them, the kernel's bounds hold; it would take less in silence."""
    monkeypatch.setattr(windows, "_OPTIONS", {"send": (socket.SO_SNDBUF, socket.SO_SNDBUF)})
    with socket.socket() as sock, pytest.raises(windows.NotGiven, match=r"raise net.core.wmem_max"):
        windows.limit(sock, "send", 1 << 29)


@pytest.mark.parametrize(("more", "given"), [(0, True), (1, False)])
def test_what_is_given_is_all_that_was_asked_for(monkeypatch, more, given):
    monkeypatch.setattr(windows, "_OPTIONS", {"send": (socket.SO_SNDBUF, socket.SO_SNDBUF)})
    most = int(Path("/proc/sys/net/core/wmem_max").read_text())
    with (
        socket.socket() as sock,
        nullcontext() if given else pytest.raises(windows.NotGiven, match=f" {most} of"),
    ):
        windows.limit(sock, "send", most + more)


def test_a_clamp_is_on_the_connection():
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as sender:
        sender.connect(listener.getsockname())
        accepted, _peer = listener.accept()
        with accepted:
            windows.clamp(accepted, 8192)
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP) == 8192


def test_a_reader_that_stops_is_sent_about_its_window():
    """Window at the receiver and as much at the sender; packets' own memory makes it less or a bit more."""
    window = 65_536
    with socket.socket() as listener, socket.socket() as sender:
        windows.limit(listener, "receive", window)
        windows.limit(sender, "send", window)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        sender.connect(listener.getsockname())
        accepted, _peer = listener.accept()
        with accepted:
            windows.clamp(accepted, window)
            sender.settimeout(0.3)
            sent = 0
            with suppress(TimeoutError):
                while sent < 100 * window:
                    sent += sender.send(bytes(1000))
    assert window / 2 < sent < 5 * window
