"""The web process: REST API and page; reads the databases, sends commands to the controller."""
