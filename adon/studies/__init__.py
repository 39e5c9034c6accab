"""Studies: stored results about a network of instances (docs/health-and-probes.md).

A round of health, a snapshot of paths, a placement of tasks or a run of an evaluation, each as the document
that its own package writes.  This package knows what they have in common: a time, a title, a summary, a size.
"""
