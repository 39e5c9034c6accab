"""Sign-in of users, and proofs of their identity."""
