"""A measurement point: a small server that speaks pScheduler's REST API and really runs its tools."""
