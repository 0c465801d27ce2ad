from __future__ import annotations

import pytest

from agents.log_analysis.kinds import CHANGE, kind_of


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Out of memory: Killed process 4242 (java)", "out_of_memory"),
        ("java.lang.OutOfMemoryError: Java heap space", "out_of_memory"),
        ("write /var/lib/wal: no space left on device", "disk_full"),
        ("磁盘已满 /dev/sda1", "disk_full"),
        ("accept tcp: too many open files", "too_many_open_files"),
        (
            "Timeout waiting for database connection after 30000ms - Pool exhausted (100/100)",
            "pool_exhausted",
        ),
        ("Could not acquire connection from pool after 30s", "pool_exhausted"),
        ("FATAL: remaining connection slots are reserved", "pool_exhausted"),
        ("HikariPool-1 - Connection is not available, request timed out after 30000ms.", "pool_exhausted"),
        ("QueuePool limit of size 5 overflow 10 reached", "pool_exhausted"),
        ("Identity provider certificate expired", "certificate"),
        ("x509: certificate signed by unknown authority", "certificate"),
        ("dial tcp: lookup db on 10.0.0.10:53: no such host", "name_resolution"),
        ("connect ECONNREFUSED 10.0.0.1:5432", "connection_refused"),
        ("Lost connection to Redis: Connection refused (ECONNREFUSED)", "connection_refused"),
        ("read: connection reset by peer", "connection_lost"),
        ("warning: can't get client address: Connection reset by peer", "connection_lost"),
        ('relation "users" does not exist at character 15', "schema"),
        ("duplicate key value violates unique constraint", "constraint_violation"),
        ("Deadlock found when trying to get lock", "deadlock"),
        ("429 Too Many Requests", "rate_limited"),
        ("password authentication failed for user", "auth_failure"),
        ("context deadline exceeded", "timeout"),
        ("订单 连接超时", "timeout"),
        ("panic: runtime error: nil pointer dereference", "crash"),
        ("missing required environment variable DB_URL", "configuration"),
        ("auth-service returned 503", "dependency_failed"),
        ("Shutting down application", "shutdown"),
        ("Attempting reconnection (attempt 1/3)", "retry"),
    ],
)
def test_kinds(text: str, key: str) -> None:
    kind = kind_of(text)
    assert kind is not None
    assert kind.key == key


@pytest.mark.parametrize(
    "text", ["request 42 served in 12 ms", "user ann logged in", "pool status: 9/100 active", ""]
)
def test_ordinary_lines_have_no_kind(text: str) -> None:
    assert kind_of(text) is None


@pytest.mark.parametrize(
    "text", ["deployed checkout 1.5.0", "Configuration reloaded: timeout changed from 5 to 1", "配置变更"]
)
def test_changes(text: str) -> None:
    assert CHANGE.search(text)


@pytest.mark.parametrize("text", ["session opened for user deploy by (uid=0)", "request 42 served"])
def test_no_changes(text: str) -> None:
    assert not CHANGE.search(text)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (
            'unable to start container process: exec: "wge": executable file not found in $PATH',
            "command_not_found",
        ),
        ("Main PID: 812 (code=exited, status=203/EXEC)", "command_not_found"),
        ('Failed to pull image "shop:1.0.9": manifest unknown', "image_pull"),
        ("Back-off restarting failed container app in pod shop", "restarting"),
        ("0/3 nodes are available: 3 Insufficient memory", "unschedulable"),
        ("Readiness probe failed: HTTP probe failed with statuscode: 500", "probe_failed"),
        ('configmap "shop-settings" not found', "configuration"),
        ("DATABASE_URL is not set", "configuration"),
        ("consumer lag is 40000 messages", "backlog"),
        ("open /data/x: permission denied", "auth_failure"),
    ],
)
def test_kinds_of_platforms_and_of_work_that_piles_up(text: str, key: str) -> None:
    kind = kind_of(text)
    assert kind is not None
    assert kind.key == key
