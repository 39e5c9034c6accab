"""The state of the network: map, mesh, series, the plan of tests, alarms, and questions to it."""
