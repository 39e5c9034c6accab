"""The REST API, version 1: one module per kind of thing."""
