"""Who may do what: identities, and the one function that checks every request."""
