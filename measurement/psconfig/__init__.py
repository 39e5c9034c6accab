"""pSConfig templates: read and plan from one, write one from a plan, make the mesh an application needs."""
