"""Experiments as values: file, plan of trials, what a run leaves, figures, checks, differences."""
