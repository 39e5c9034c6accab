"""The shells around experiments: the folder of a run, its report, and what is held against what."""
