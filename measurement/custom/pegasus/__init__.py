"""Workflows of the Pegasus Workflow Management System, read through its own command line tools.

Section 4.2 of [ADON] with figures 13 to 16: all workflows of a user, the most recent status of each, and the
analysis of one that failed.  Nothing here needs Pegasus to be installed to be understood: the parsers are
pure, from text to value.
"""
