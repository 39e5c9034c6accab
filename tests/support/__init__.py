"""Values and helpers that tests share."""
