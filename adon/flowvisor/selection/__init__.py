"""Path selection: performance of paths, assessment of candidates, move or stay."""
