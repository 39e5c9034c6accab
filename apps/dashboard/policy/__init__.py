"""Templates, decisions, the queue and the policy: what performance engineers steer, and what came of it."""
