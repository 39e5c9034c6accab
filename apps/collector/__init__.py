"""The collector process: runs the configured tests, keeps their results, tells the controller."""
