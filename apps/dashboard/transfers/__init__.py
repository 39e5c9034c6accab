"""Transfers: requests, flows and their outcomes."""
