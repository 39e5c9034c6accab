"""``python -m apps.cli``."""

from apps.cli.main import main

main()
