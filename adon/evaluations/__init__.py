"""Evaluation documents as people write them: YAML with units, each problem with its line ([CEEM]).

What a document means, and all that is done with one, is in :mod:`measurement.evaluation`.
"""
