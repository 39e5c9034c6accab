"""The dashboard: pages for researchers, performance engineers and operators, over the REST API."""
