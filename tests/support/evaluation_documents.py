"""A small document that needs no network: its command prints a number."""

from __future__ import annotations

TEXT = """\
name: small
version: 1
title: A small one
requirement:
  recipient: a test
  purpose: To see whether it works
  questions:
    - {id: speed, asks: "How fast is it?"}
features:
  service: nothing
  identified:
    - {feature: communication-data-throughput, questions: [speed]}
metrics_listed:
  - {metric: tcp-transfer-bit-speed, benchmarks: [iperf3, packet-train]}
metrics_selected:
  - {metric: tcp-transfer-bit-speed, benchmark: iperf3, because: It is there.}
factors_listed: [activity-frequency, vm-type]
factors_selected:
  - {factor: vm-type, role: environment, levels: [none], because: There is none.}
design:
  nodes: [a, b]
  clients: [u]
  runs: 2
  duration: 1 s
  pilot: {runs: 1, duration: 500 ms}
implementation:
  measure:
    command: [printf, "7000000"]
analysis: {}
conclusions:
  answers:
    - {question: speed, by: speed-to-client, of: u}
"""
INSTANCES = """\
instances:
  - {name: a, address: 127.0.0.1}
  - {name: b, address: 127.0.0.2}
  - {name: u, address: 127.0.0.3}
"""
