"""Repeatable evaluations of networks, as documents that are run ([CEEM]).

From Li et al., "CEEM: a practical methodology for cloud services evaluation".
"""
