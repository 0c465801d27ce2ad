"""Context, sessions and origins of memories; shadow builds; rates; the archive's words; working memory of runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

import kernel.database

revision = '0004'
down_revision = '0003'

_ARCHIVE = {
    'sqlite': ['CREATE VIRTUAL TABLE IF NOT EXISTS memory_archive USING fts5(words)'],
    'postgresql': [
        'CREATE TABLE IF NOT EXISTS memory_archive (rowid INTEGER PRIMARY KEY, words TSVECTOR NOT NULL)',
        'CREATE INDEX IF NOT EXISTS ix_memory_archive ON memory_archive USING gin (words)',
    ],
}


def upgrade() -> None:
    """Go forward."""
    op.create_table('memory_rate',
    sa.Column('namespace', sa.String(), nullable=False),
    sa.Column('source', sa.String(), nullable=False),
    sa.Column('day', sa.String(), nullable=False),
    sa.Column('count', sa.Integer(), nullable=False),
    sa.PrimaryKeyConstraint('namespace', 'source', 'day')
    )
    op.create_index(op.f('ix_memory_rate_day'), 'memory_rate', ['day'], unique=False)
    op.create_table('working',
    sa.Column('run_id', sa.String(), nullable=False),
    sa.Column('slot', sa.String(), nullable=False),
    sa.Column('value', sa.JSON(), nullable=False),
    sa.Column('source', sa.String(), nullable=False),
    sa.Column('at', kernel.database.UtcDateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('run_id', 'slot')
    )
    with op.batch_alter_table('memory', schema=None) as batch_op:
        batch_op.add_column(sa.Column('context', sa.String(), nullable=False, server_default=''))
        batch_op.add_column(sa.Column('session', sa.String(), nullable=False, server_default=''))
        batch_op.add_column(sa.Column('made_from', sa.JSON(), nullable=False, server_default='[]'))
    with op.batch_alter_table('embed_space', schema=None) as batch_op:
        batch_op.add_column(sa.Column('made_by', sa.JSON(), nullable=False, server_default='{}'))
        batch_op.add_column(sa.Column('vectors_of', sa.String(), nullable=False, server_default=''))
        batch_op.add_column(sa.Column('built_to', sa.Integer(), nullable=False, server_default='0'))
        batch_op.add_column(sa.Column('calibration', sa.JSON(), nullable=False, server_default='{}'))
        batch_op.add_column(sa.Column('retired_at', kernel.database.UtcDateTime(timezone=True), nullable=True))
    for statement in _ARCHIVE[op.get_bind().dialect.name]:
        op.execute(statement)


def downgrade() -> None:
    """Go back."""
    op.execute('DROP TABLE memory_archive')
    with op.batch_alter_table('embed_space', schema=None) as batch_op:
        for name in ('retired_at', 'calibration', 'built_to', 'vectors_of', 'made_by'):
            batch_op.drop_column(name)
    with op.batch_alter_table('memory', schema=None) as batch_op:
        for name in ('made_from', 'session', 'context'):
            batch_op.drop_column(name)
    op.drop_table('working')
    op.drop_index(op.f('ix_memory_rate_day'), table_name='memory_rate')
    op.drop_table('memory_rate')
