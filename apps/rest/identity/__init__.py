"""How somebody proves to the web side who they are."""
