"""The schema of the truth: `migrate` brings a database to the newest revision."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from kernel.database import Database
from kernel.errors import Fatal

_FOLDER = Path(__file__).parent / "migrations"


def _config(database: Database) -> Config:
    config = Config()
    # alembic reads the option through configparser, where % is special
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    config.attributes["database"] = database
    return config


def migrate(database: Database) -> str:
    """Bring the database to the newest revision and return it; harmless when it is there already."""
    config = _config(database)
    newest = ScriptDirectory.from_config(config).get_current_head() or ""
    present = revision(database)
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if present and present not in known:
        raise Fatal(
            f"the database is at revision {present!r}, which this version does not know",
            why="a newer Nightdesk migrated it",
            next_step="Run the newer version, or restore a backup.",
        )
    if present != newest:
        command.upgrade(config, "head")
    return newest


def revision(database: Database) -> str | None:
    """Return the revision a database is at; None where it was never migrated."""
    with database.reading() as session:
        return MigrationContext.configure(session.connection()).get_current_revision()
