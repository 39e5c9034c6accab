"""Path selection: performance of paths, assessment of candidates, rerouting."""
