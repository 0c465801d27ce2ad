"""Runs and everything below them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

import kernel.database

revision = '0001'
down_revision = None


def upgrade() -> None:
    """Go forward."""
    op.create_table('approval',
    sa.Column('call_id', sa.String(), nullable=False),
    sa.Column('run_id', sa.String(), nullable=False),
    sa.Column('assignment_id', sa.String(), nullable=False),
    sa.Column('tool', sa.String(), nullable=False),
    sa.Column('argv', sa.JSON(), nullable=False),
    sa.Column('digest', sa.String(), nullable=False),
    sa.Column('risk', sa.String(), nullable=False),
    sa.Column('why', sa.String(), nullable=False),
    sa.Column('shown', sa.JSON(), nullable=False),
    sa.Column('requester', sa.String(), nullable=False),
    sa.Column('state', sa.String(), nullable=False),
    sa.Column('decided_by', sa.String(), nullable=False),
    sa.Column('reason', sa.String(), nullable=False),
    sa.Column('created_at', kernel.database.UtcDateTime(timezone=True), nullable=False),
    sa.Column('expires_at', kernel.database.UtcDateTime(timezone=True), nullable=True),
    sa.Column('decided_at', kernel.database.UtcDateTime(timezone=True), nullable=True),
    sa.PrimaryKeyConstraint('call_id')
    )
    with op.batch_alter_table('approval', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_approval_run_id'), ['run_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_approval_state'), ['state'], unique=False)

    op.create_table('assignment',
    sa.Column('id', sa.String(), nullable=False),
    sa.Column('run_id', sa.String(), nullable=False),
    sa.Column('key', sa.String(), nullable=False),
    sa.Column('agent', sa.String(), nullable=False),
    sa.Column('queue', sa.String(), nullable=False),
    sa.Column('goal', sa.String(), nullable=False),
    sa.Column('inputs', sa.JSON(), nullable=False),
    sa.Column('needs', sa.JSON(), nullable=False),
    sa.Column('round', sa.Integer(), nullable=False),
    sa.Column('state', sa.String(), nullable=False),
    sa.Column('reason', sa.String(), nullable=False),
    sa.Column('attempts', sa.Integer(), nullable=False),
    sa.Column('fence', sa.Integer(), nullable=False),
    sa.Column('lease_until', sa.Float(), nullable=False),
    sa.Column('worker', sa.String(), nullable=False),
    sa.Column('brain', sa.String(), nullable=False),
    sa.Column('outcome', sa.JSON(), nullable=True),
    sa.Column('created_at', kernel.database.UtcDateTime(timezone=True), nullable=False),
    sa.Column('rung_at', kernel.database.UtcDateTime(timezone=True), nullable=True),
    sa.Column('started_at', kernel.database.UtcDateTime(timezone=True), nullable=True),
    sa.Column('ended_at', kernel.database.UtcDateTime(timezone=True), nullable=True),
    sa.PrimaryKeyConstraint('id'),
    sa.UniqueConstraint('run_id', 'key')
    )
    with op.batch_alter_table('assignment', schema=None) as batch_op:
        batch_op.create_index('ix_assignment_due', ['state', 'lease_until'], unique=False)
        batch_op.create_index(batch_op.f('ix_assignment_run_id'), ['run_id'], unique=False)

    op.create_table('audit',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('at', kernel.database.UtcDateTime(timezone=True), nullable=False),
    sa.Column('actor', sa.String(), nullable=False),
    sa.Column('action', sa.String(), nullable=False),
    sa.Column('subject', sa.String(), nullable=False),
    sa.Column('detail', sa.JSON(), nullable=False),
    sa.Column('previous_hash', sa.String(), nullable=False),
    sa.Column('hash', sa.String(), nullable=False),
    sa.PrimaryKeyConstraint('id')
    )
    op.create_table('call',
    sa.Column('id', sa.String(), nullable=False),
    sa.Column('run_id', sa.String(), nullable=False),
    sa.Column('assignment_id', sa.String(), nullable=False),
    sa.Column('turn', sa.Integer(), nullable=False),
    sa.Column('position', sa.Integer(), nullable=False),
    sa.Column('tool', sa.String(), nullable=False),
    sa.Column('arguments', sa.JSON(), nullable=False),
    sa.Column('effect', sa.String(), nullable=False),
    sa.Column('key', sa.String(), nullable=False),
    sa.Column('state', sa.String(), nullable=False),
    sa.Column('result', sa.JSON(), nullable=True),
    sa.Column('fence', sa.Integer(), nullable=False),
    sa.Column('worker', sa.String(), nullable=False),
    sa.Column('attempts', sa.Integer(), nullable=False),
    sa.Column('created_at', kernel.database.UtcDateTime(timezone=True), nullable=False),
    sa.Column('started_at', kernel.database.UtcDateTime(timezone=True), nullable=True),
    sa.Column('ended_at', kernel.database.UtcDateTime(timezone=True), nullable=True),
    sa.PrimaryKeyConstraint('id'),
    sa.UniqueConstraint('assignment_id', 'turn', 'position')
    )
    with op.batch_alter_table('call', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_call_assignment_id'), ['assignment_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_call_key'), ['key'], unique=False)
        batch_op.create_index(batch_op.f('ix_call_run_id'), ['run_id'], unique=False)

    op.create_table('dead_letter',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('queue', sa.String(), nullable=False),
    sa.Column('subject', sa.String(), nullable=False),
    sa.Column('reason', sa.String(), nullable=False),
    sa.Column('first_bytes', sa.String(), nullable=False),
    sa.Column('created_at', kernel.database.UtcDateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('id')
    )
    op.create_table('delivery',
    sa.Column('key', sa.String(), nullable=False),
    sa.Column('run_id', sa.String(), nullable=False),
    sa.Column('channel', sa.String(), nullable=False),
    sa.Column('state', sa.String(), nullable=False),
    sa.Column('attempts', sa.Integer(), nullable=False),
    sa.Column('answer', sa.String(), nullable=False),
    sa.Column('created_at', kernel.database.UtcDateTime(timezone=True), nullable=False),
    sa.Column('updated_at', kernel.database.UtcDateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('key')
    )
    with op.batch_alter_table('delivery', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_delivery_run_id'), ['run_id'], unique=False)

    op.create_table('run',
    sa.Column('id', sa.String(), nullable=False),
    sa.Column('namespace', sa.String(), nullable=False),
    sa.Column('user', sa.String(), nullable=False),
    sa.Column('session_id', sa.String(), nullable=True),
    sa.Column('state', sa.String(), nullable=False),
    sa.Column('reason', sa.String(), nullable=False),
    sa.Column('request', sa.JSON(), nullable=False),
    sa.Column('playbook', sa.String(), nullable=False),
    sa.Column('planned_by', sa.String(), nullable=False),
    sa.Column('rounds', sa.JSON(), nullable=False),
    sa.Column('priority', sa.String(), nullable=False),
    sa.Column('memories', sa.JSON(), nullable=False),
    sa.Column('memory_note', sa.String(), nullable=False),
    sa.Column('session', sa.JSON(), nullable=False),
    sa.Column('session_summary', sa.String(), nullable=False),
    sa.Column('stop', sa.String(), nullable=False),
    sa.Column('stop_reason', sa.String(), nullable=False),
    sa.Column('report', sa.JSON(), nullable=True),
    sa.Column('deadline_at', kernel.database.UtcDateTime(timezone=True), nullable=True),
    sa.Column('created_at', kernel.database.UtcDateTime(timezone=True), nullable=False),
    sa.Column('updated_at', kernel.database.UtcDateTime(timezone=True), nullable=False),
    sa.Column('ended_at', kernel.database.UtcDateTime(timezone=True), nullable=True),
    sa.Column('published', sa.Boolean(), nullable=False),
    sa.Column('version', sa.Integer(), nullable=False),
    sa.PrimaryKeyConstraint('id')
    )
    with op.batch_alter_table('run', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_run_created_at'), ['created_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_run_namespace'), ['namespace'], unique=False)
        batch_op.create_index(batch_op.f('ix_run_session_id'), ['session_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_run_state'), ['state'], unique=False)

    op.create_table('session',
    sa.Column('id', sa.String(), nullable=False),
    sa.Column('namespace', sa.String(), nullable=False),
    sa.Column('user', sa.String(), nullable=False),
    sa.Column('summary', sa.String(), nullable=False),
    sa.Column('created_at', kernel.database.UtcDateTime(timezone=True), nullable=False),
    sa.Column('updated_at', kernel.database.UtcDateTime(timezone=True), nullable=False),
    sa.Column('version', sa.Integer(), nullable=False),
    sa.PrimaryKeyConstraint('id')
    )
    op.create_table('turn',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('assignment_id', sa.String(), nullable=False),
    sa.Column('number', sa.Integer(), nullable=False),
    sa.Column('brain', sa.String(), nullable=False),
    sa.Column('text', sa.String(), nullable=False),
    sa.Column('calls', sa.JSON(), nullable=False),
    sa.Column('outcome', sa.JSON(), nullable=True),
    sa.Column('note', sa.String(), nullable=False),
    sa.Column('usage', sa.JSON(), nullable=False),
    sa.Column('fence', sa.Integer(), nullable=False),
    sa.Column('created_at', kernel.database.UtcDateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('id'),
    sa.UniqueConstraint('assignment_id', 'number')
    )
    with op.batch_alter_table('turn', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_turn_assignment_id'), ['assignment_id'], unique=False)



def downgrade() -> None:
    """Go back."""
    with op.batch_alter_table('turn', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_turn_assignment_id'))

    op.drop_table('turn')
    op.drop_table('session')
    with op.batch_alter_table('run', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_run_state'))
        batch_op.drop_index(batch_op.f('ix_run_session_id'))
        batch_op.drop_index(batch_op.f('ix_run_namespace'))
        batch_op.drop_index(batch_op.f('ix_run_created_at'))

    op.drop_table('run')
    with op.batch_alter_table('delivery', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_delivery_run_id'))

    op.drop_table('delivery')
    op.drop_table('dead_letter')
    with op.batch_alter_table('call', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_call_run_id'))
        batch_op.drop_index(batch_op.f('ix_call_key'))
        batch_op.drop_index(batch_op.f('ix_call_assignment_id'))

    op.drop_table('call')
    op.drop_table('audit')
    with op.batch_alter_table('assignment', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_assignment_run_id'))
        batch_op.drop_index('ix_assignment_due')

    op.drop_table('assignment')
    with op.batch_alter_table('approval', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_approval_state'))
        batch_op.drop_index(batch_op.f('ix_approval_run_id'))

    op.drop_table('approval')
