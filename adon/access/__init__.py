"""Access control: identities, roles, tokens, permissions and the audit log."""
