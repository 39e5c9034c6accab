"""What pScheduler says and how it is spoken to: ISO 8601, test specifications, results, the REST client."""
