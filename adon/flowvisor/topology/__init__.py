"""The network of switches and links: state of links, paths over them, candidates between sites."""
