"""Testbed whose users run inside its namespaces, or inside a User-Mode-Linux guest."""
