"""Evaluations put to work: tests made, the log written, the report drawn (docs/evaluation.md).

What is tested when, and what it means, is decided in :mod:`measurement.evaluation`.
"""
