"""Rules of switches: values, compilation from decisions, order of changes."""
