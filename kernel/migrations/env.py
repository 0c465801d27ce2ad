"""Alembic's entry: runs the revisions over the connection that kernel.schema hands in."""

from __future__ import annotations

from alembic import context
from sqlmodel import SQLModel

database = context.config.attributes["database"]
with database.writing("schema.migrate") as session:
    context.configure(
        connection=session.connection(),
        target_metadata=SQLModel.metadata,
        render_as_batch=database.is_sqlite,
        transaction_per_migration=False,
    )
    context.run_migrations()
