"""Studies: what was found out about a network of instances, as ADON keeps and shows it (docs/instances.md).

A round of health, a snapshot of paths, a placement of tasks or a run of an evaluation, each as the document
that its own package writes.  This package knows what they have in common: a time, a title, a summary, a size.
"""
