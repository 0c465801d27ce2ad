"""Memories, their states, outbox, audit, citations, jobs and embedding spaces."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

import kernel.database

revision = '0002'
down_revision = '0001'


def upgrade() -> None:
    """Go forward."""
    op.create_table('embed_cache',
    sa.Column('space_id', sa.String(), nullable=False),
    sa.Column('content_hash', sa.String(), nullable=False),
    sa.Column('vector', sa.LargeBinary(), nullable=False),
    sa.PrimaryKeyConstraint('space_id', 'content_hash')
    )
    op.create_table('embed_space',
    sa.Column('id', sa.String(), nullable=False),
    sa.Column('name', sa.String(), nullable=False),
    sa.Column('dimensions', sa.Integer(), nullable=False),
    sa.Column('probe', sa.JSON(), nullable=False),
    sa.Column('state', sa.String(), nullable=False),
    sa.Column('created_at', kernel.database.UtcDateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('id')
    )
    op.create_table('job_run',
    sa.Column('job', sa.String(), nullable=False),
    sa.Column('epoch', sa.String(), nullable=False),
    sa.Column('state', sa.String(), nullable=False),
    sa.Column('cursor', sa.String(), nullable=False),
    sa.Column('counts', sa.JSON(), nullable=False),
    sa.Column('holder', sa.String(), nullable=False),
    sa.Column('lease_until', sa.Float(), nullable=False),
    sa.Column('started_at', kernel.database.UtcDateTime(timezone=True), nullable=False),
    sa.Column('ended_at', kernel.database.UtcDateTime(timezone=True), nullable=True),
    sa.PrimaryKeyConstraint('job', 'epoch')
    )
    op.create_table('memory',
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('id', sa.String(), nullable=False),
    sa.Column('namespace', sa.String(), nullable=False),
    sa.Column('user', sa.String(), nullable=False),
    sa.Column('owner', sa.String(), nullable=False),
    sa.Column('kind', sa.String(), nullable=False),
    sa.Column('key', sa.String(), nullable=False),
    sa.Column('key_hash', sa.String(), nullable=False),
    sa.Column('live', sa.Boolean(), nullable=False),
    sa.Column('text', sa.String(), nullable=False),
    sa.Column('slots', sa.JSON(), nullable=False),
    sa.Column('tags', sa.JSON(), nullable=False),
    sa.Column('source_kind', sa.String(), nullable=False),
    sa.Column('source_ref', sa.String(), nullable=False),
    sa.Column('trust', sa.Float(), nullable=False),
    sa.Column('content_hash', sa.String(), nullable=False),
    sa.Column('valid_from', kernel.database.UtcDateTime(timezone=True), nullable=False),
    sa.Column('valid_to', kernel.database.UtcDateTime(timezone=True), nullable=True),
    sa.Column('superseded_by', sa.String(), nullable=False),
    sa.Column('recorded_at', kernel.database.UtcDateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('pk'),
    sa.UniqueConstraint('id')
    )
    op.create_index(op.f('ix_memory_content_hash'), 'memory', ['content_hash'], unique=False)
    op.create_index('ix_memory_key', 'memory', ['key_hash', 'namespace'], unique=False)
    op.create_index('ix_memory_kind', 'memory', ['namespace', 'kind', 'pk'], unique=False)
    op.create_index('ix_memory_namespace', 'memory', ['namespace', 'pk'], unique=False)
    op.create_index('ux_memory_live', 'memory', ['namespace', 'user', 'kind', 'key_hash'], unique=True, sqlite_where=sa.text('live'), postgresql_where=sa.text('live'))
    op.create_table('memory_audit',
    sa.Column('seq', sa.Integer(), nullable=False),
    sa.Column('at', kernel.database.UtcDateTime(timezone=True), nullable=False),
    sa.Column('actor', sa.String(), nullable=False),
    sa.Column('action', sa.String(), nullable=False),
    sa.Column('memory_id', sa.String(), nullable=False),
    sa.Column('namespace', sa.String(), nullable=False),
    sa.Column('before', sa.JSON(), nullable=False),
    sa.Column('after', sa.JSON(), nullable=False),
    sa.Column('reason', sa.String(), nullable=False),
    sa.Column('previous_hash', sa.String(), nullable=False),
    sa.Column('hash', sa.String(), nullable=False),
    sa.PrimaryKeyConstraint('seq')
    )
    op.create_index(op.f('ix_memory_audit_memory_id'), 'memory_audit', ['memory_id'], unique=False)
    op.create_table('memory_access',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('cited_by', sa.String(), nullable=False),
    sa.Column('at', sa.Float(), nullable=False),
    sa.Column('flushed', sa.Boolean(), nullable=False),
    sa.ForeignKeyConstraint(['pk'], ['memory.pk']),
    sa.PrimaryKeyConstraint('id'),
    sa.UniqueConstraint('pk', 'cited_by')
    )
    op.create_index(op.f('ix_memory_access_flushed'), 'memory_access', ['flushed'], unique=False)
    op.create_table('memory_outbox',
    sa.Column('pk', sa.Integer(), autoincrement=False, nullable=False),
    sa.Column('rev', sa.Integer(), nullable=False),
    sa.Column('enqueued_at', kernel.database.UtcDateTime(timezone=True), nullable=False),
    sa.Column('attempts', sa.Integer(), nullable=False),
    sa.Column('last_error', sa.String(), nullable=False),
    sa.ForeignKeyConstraint(['pk'], ['memory.pk']),
    sa.PrimaryKeyConstraint('pk')
    )
    op.create_table('memory_state',
    sa.Column('pk', sa.Integer(), autoincrement=False, nullable=False),
    sa.Column('status', sa.String(), nullable=False),
    sa.Column('tier', sa.String(), nullable=False),
    sa.Column('next_transition_at', sa.Float(), nullable=False),
    sa.Column('importance', sa.Float(), nullable=False),
    sa.Column('emotion', sa.Float(), nullable=False),
    sa.Column('weight', sa.Integer(), nullable=False),
    sa.Column('half_life_s', sa.Float(), nullable=False),
    sa.Column('last_access_at', sa.Float(), nullable=False),
    sa.Column('access_count', sa.Integer(), nullable=False),
    sa.Column('expires_at', sa.Float(), nullable=True),
    sa.Column('rev', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['pk'], ['memory.pk']),
    sa.PrimaryKeyConstraint('pk')
    )
    op.create_index('ix_memory_state_due', 'memory_state', ['status', 'next_transition_at'], unique=False)


def downgrade() -> None:
    """Go back."""
    op.drop_index('ix_memory_state_due', table_name='memory_state')
    op.drop_table('memory_state')
    op.drop_table('memory_outbox')
    op.drop_index(op.f('ix_memory_access_flushed'), table_name='memory_access')
    op.drop_table('memory_access')
    op.drop_index(op.f('ix_memory_audit_memory_id'), table_name='memory_audit')
    op.drop_table('memory_audit')
    op.drop_index('ux_memory_live', table_name='memory', sqlite_where=sa.text('live'), postgresql_where=sa.text('live'))
    op.drop_index('ix_memory_kind', table_name='memory')
    op.drop_index('ix_memory_namespace', table_name='memory')
    op.drop_index('ix_memory_key', table_name='memory')
    op.drop_index(op.f('ix_memory_content_hash'), table_name='memory')
    op.drop_table('memory')
    op.drop_table('job_run')
    op.drop_table('embed_space')
    op.drop_table('embed_cache')
