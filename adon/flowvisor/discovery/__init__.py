"""Discovery of links by LLDP probes."""
