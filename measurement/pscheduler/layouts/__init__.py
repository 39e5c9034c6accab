"""The layout of merged results, one module per test: pure functions from documents to readings."""
