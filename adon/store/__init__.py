"""What must survive a restart: SQLAlchemy models, migrations, and the store the shell writes to."""
