"""Pages of operation: rules, parts of ADON, users, audit log, account."""
