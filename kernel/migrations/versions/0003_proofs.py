"""Events, spending, children, questions; dead letters of messages; the shape of what a row holds."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

import kernel.database

revision = '0003'
down_revision = '0002'


def upgrade() -> None:
    """Go forward."""
    op.create_table('child',
    sa.Column('call_id', sa.String(), nullable=False),
    sa.Column('fence', sa.Integer(), nullable=False),
    sa.Column('host', sa.String(), nullable=False),
    sa.Column('boot_id', sa.String(), nullable=False),
    sa.Column('pid', sa.Integer(), nullable=False),
    sa.Column('start_ticks', sa.Integer(), nullable=False),
    sa.Column('started_at', kernel.database.UtcDateTime(timezone=True), nullable=False),
    sa.Column('ended_at', kernel.database.UtcDateTime(timezone=True), nullable=True),
    sa.Column('exit_code', sa.Integer(), nullable=True),
    sa.PrimaryKeyConstraint('call_id', 'fence')
    )
    op.create_table('event',
    sa.Column('run_id', sa.String(), nullable=False),
    sa.Column('seq', sa.Integer(), nullable=False),
    sa.Column('body', sa.JSON(), nullable=False),
    sa.PrimaryKeyConstraint('run_id', 'seq')
    )
    op.create_table('question',
    sa.Column('call_id', sa.String(), nullable=False),
    sa.Column('run_id', sa.String(), nullable=False),
    sa.Column('assignment_id', sa.String(), nullable=False),
    sa.Column('tool', sa.String(), nullable=False),
    sa.Column('known', sa.JSON(), nullable=False),
    sa.Column('state', sa.String(), nullable=False),
    sa.Column('answered_by', sa.String(), nullable=False),
    sa.Column('reason', sa.String(), nullable=False),
    sa.Column('created_at', kernel.database.UtcDateTime(timezone=True), nullable=False),
    sa.Column('answered_at', kernel.database.UtcDateTime(timezone=True), nullable=True),
    sa.PrimaryKeyConstraint('call_id')
    )
    with op.batch_alter_table('question', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_question_run_id'), ['run_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_question_state'), ['state'], unique=False)

    op.create_table('spend',
    sa.Column('key', sa.String(), nullable=False),
    sa.Column('run_id', sa.String(), nullable=False),
    sa.Column('assignment_id', sa.String(), nullable=False),
    sa.Column('namespace', sa.String(), nullable=False),
    sa.Column('day', sa.String(), nullable=False),
    sa.Column('settled', sa.Boolean(), nullable=False),
    sa.Column('model_calls', sa.Integer(), nullable=False),
    sa.Column('tool_calls', sa.Integer(), nullable=False),
    sa.Column('tokens', sa.Integer(), nullable=False),
    sa.Column('cost', sa.Float(), nullable=False),
    sa.Column('seconds', sa.Float(), nullable=False),
    sa.Column('created_at', kernel.database.UtcDateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('key')
    )
    with op.batch_alter_table('spend', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_spend_assignment_id'), ['assignment_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_spend_day'), ['day'], unique=False)
        batch_op.create_index('ix_spend_namespace', ['namespace', 'day'], unique=False)
        batch_op.create_index(batch_op.f('ix_spend_run_id'), ['run_id'], unique=False)

    with op.batch_alter_table('approval', schema=None) as batch_op:
        batch_op.add_column(sa.Column('shape', sa.Integer(), nullable=False, server_default='0'))

    with op.batch_alter_table('assignment', schema=None) as batch_op:
        batch_op.add_column(sa.Column('shape', sa.Integer(), nullable=False, server_default='0'))

    with op.batch_alter_table('call', schema=None) as batch_op:
        batch_op.add_column(sa.Column('shape', sa.Integer(), nullable=False, server_default='0'))

    with op.batch_alter_table('dead_letter', schema=None) as batch_op:
        batch_op.add_column(sa.Column('kind', sa.String(), nullable=False, server_default='work'))
        batch_op.add_column(sa.Column('size', sa.Integer(), nullable=False, server_default='0'))
        batch_op.add_column(sa.Column('body', sa.LargeBinary(), nullable=True))
        batch_op.add_column(sa.Column('stream_id', sa.String(), nullable=True))
        batch_op.add_column(sa.Column('state', sa.String(), nullable=False, server_default='kept'))
        batch_op.add_column(sa.Column('decided_by', sa.String(), nullable=False, server_default=''))
        batch_op.add_column(sa.Column('decided_at', kernel.database.UtcDateTime(timezone=True), nullable=True))
        batch_op.create_index(batch_op.f('ix_dead_letter_state'), ['state'], unique=False)
        batch_op.create_index(batch_op.f('ix_dead_letter_stream_id'), ['stream_id'], unique=True)

    with op.batch_alter_table('run', schema=None) as batch_op:
        batch_op.add_column(sa.Column('event_seq', sa.Integer(), nullable=False, server_default='0'))
        batch_op.add_column(sa.Column('shape', sa.Integer(), nullable=False, server_default='0'))

    with op.batch_alter_table('turn', schema=None) as batch_op:
        batch_op.add_column(sa.Column('shape', sa.Integer(), nullable=False, server_default='0'))


def downgrade() -> None:
    """Go back."""
    with op.batch_alter_table('turn', schema=None) as batch_op:
        batch_op.drop_column('shape')

    with op.batch_alter_table('run', schema=None) as batch_op:
        batch_op.drop_column('shape')
        batch_op.drop_column('event_seq')

    with op.batch_alter_table('dead_letter', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_dead_letter_stream_id'))
        batch_op.drop_index(batch_op.f('ix_dead_letter_state'))
        batch_op.drop_column('decided_at')
        batch_op.drop_column('decided_by')
        batch_op.drop_column('state')
        batch_op.drop_column('stream_id')
        batch_op.drop_column('body')
        batch_op.drop_column('size')
        batch_op.drop_column('kind')

    with op.batch_alter_table('call', schema=None) as batch_op:
        batch_op.drop_column('shape')

    with op.batch_alter_table('assignment', schema=None) as batch_op:
        batch_op.drop_column('shape')

    with op.batch_alter_table('approval', schema=None) as batch_op:
        batch_op.drop_column('shape')

    with op.batch_alter_table('spend', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_spend_run_id'))
        batch_op.drop_index('ix_spend_namespace')
        batch_op.drop_index(batch_op.f('ix_spend_day'))
        batch_op.drop_index(batch_op.f('ix_spend_assignment_id'))

    op.drop_table('spend')
    with op.batch_alter_table('question', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_question_state'))
        batch_op.drop_index(batch_op.f('ix_question_run_id'))

    op.drop_table('question')
    op.drop_table('event')
    op.drop_table('child')
