"""The page: what a researcher and a performance engineer need to see, as plain HTML."""
