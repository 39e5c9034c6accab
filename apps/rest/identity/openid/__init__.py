"""OpenID Connect, as a relying party: authorization code flow with PKCE."""
