"""Networks as the controller reads them out, for tests of pages that show them."""

from __future__ import annotations

from typing import Any

from tests.apps.web import NOW, snapshot


def large(sites: int, each: int) -> dict[str, Any]:
    """So many sites with so many switches each, links within and between, and paths over them.

    The first site's second switch is not connected, one link is down, one settles; flows are on some paths.
    """
    found = snapshot()
    names = [f"site{number}" for number in range(sites)]
    switches = {name: [f"{name}-s{number}" for number in range(each)] for name in names}
    listed = [one for its in switches.values() for one in its]
    model = found["switches"][0]
    found["switches"] = [
        {**model, "name": one, "dpid": f"{number:016x}", "connected": one != "site0-s1", "rules": number}
        for number, one in enumerate(listed, 1)
    ]
    found["sites"] = [{"name": name, "edge": switches[name][0], "hosts": [f"{name}-dtn"]} for name in names]
    pairs = [(its[number], its[(number - 1) // 3]) for its in switches.values() for number in range(1, each)]
    pairs += [
        (its[0], switches[names[(number + 1) % sites]][0]) for number, its in enumerate(switches.values())
    ]
    states = {3: ("down", "no carrier"), 5: ("settling", "came back 3 s ago")}
    found["wires"] = [
        {
            "name": f"l{number}",
            "state": states.get(number, ("live", ""))[0],
            "reason": states.get(number, ("", ""))[1],
            "ends": [{"switch": end, "port": f"p{number}"} for end in pair],
            "capacity": 1e10,
        }
        for number, pair in enumerate(pairs)
    ]
    found["links"] = []
    way = found["paths"][0]
    ends = [(one, other) for place, one in enumerate(names) for other in names[place + 1 :]]
    found["circuits"], found["paths"] = [], []
    between = {frozenset(pair): f"l{number}" for number, pair in enumerate(pairs)}
    for number, (source, destination) in enumerate(ends):
        name = f"core.{number}"
        link = between.get(frozenset((switches[source][0], switches[destination][0])))
        flows = [f"f-{one}" for one in range(1, number + 1)] if number % 3 == 1 else []
        found["circuits"].append(
            {
                "name": name,
                "overlay": "core" if link else None,
                "vlan": 100 + number,
                "links": [link] if link else [],
                "source": source,
                "destination": destination,
                "switches": [switches[source][0], switches[destination][0]],
            }
        )
        for place, (one, other) in enumerate(((source, destination), (destination, source))):
            found["paths"].append(
                {
                    **way,
                    "path": name,
                    "source": one,
                    "destination": other,
                    "capacity": 1e10,
                    "usable": number != 4,
                    "reason": "" if number != 4 else "link l3 is down",
                    "flows": flows if place == 0 else [],
                    "alarms": way["alarms"] if number == 2 else [],
                    "metrics": way["metrics"] if number != 6 else {},
                }
            )
    assert found["at"] == NOW
    return found
