"""Experiments on a testbed: document, plan, timeline, trial, results, verdicts and report."""
