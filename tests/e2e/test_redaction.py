"""Secrets planted in request and log appear nowhere once the run has ended; Flower shows runs, not payloads."""

from __future__ import annotations

import base64
import json
import sqlite3
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from celery import Celery

from tests.support import secrets_planted
from tests.support.desk import Desk, running_desk
from tests.support.model_server import ModelServer
from tests.support.webhook_sink import WebhookSink

pytestmark = pytest.mark.e2e

PASSWORD = "S3cr3t-Pa55-w0rd"
TOKEN = "sk-proj-abcdEFGH1234567890abcdEFGH1234567890"
PHONE = "13800138000"
EMAIL = "li.wei@example.com.cn"
PLANTED = (PASSWORD, TOKEN, PHONE, EMAIL, *secrets_planted.PLANTED)


def test_no_secret_is_left_anywhere(tmp_path: Path) -> None:
    analyst, messenger = "(?i)you analyse logs", "(?i)you are the notification agent"
    message = {"channel": "webhook", "title": "503", "body": f"It is {EMAIL}", "severity": "error"}
    steps = [
        {
            "system": analyst,
            "calls": [
                {"tool": "overview", "arguments": {}},
                {"tool": "templates", "arguments": {"limit": 100}},
                {"tool": "search", "arguments": {"limit": 50}},
                {"tool": "entities", "arguments": {"by": "password"}},
            ],
        },
        {"system": messenger, "calls": [{"tool": "notify", "arguments": message}]},
        {"text": "The pool is exhausted.", "times": 0},
    ]
    with ModelServer(steps) as model, WebhookSink() as sink:
        environment = {
            "NIGHTDESK_MODEL_BASE_URL": model.url,
            "NIGHTDESK_MODEL_NAME": "scripted",
            "NIGHTDESK_WEBHOOK_URL": sink.url,
            "NIGHTDESK_NOTIFY_CHANNELS": '["webhook"]',
        }
        with running_desk(tmp_path / "d", environment=environment) as desk:
            report = _run(desk)
            assert report["state"] == "succeeded"
            assert report["findings"] or report["answer"]
            assert sink.bodies, "the webhook was told nothing"
            assert model.requests, "the model was asked nothing"
            places = {
                "report": json.dumps(report, ensure_ascii=False),
                "sql": _sql(desk),
                "redis": _redis(desk),
                "flower": _flower(desk),
                "logs": "".join(p.read_text(errors="replace") for p in (desk.data_dir / "logs").glob("*")),
                "model": json.dumps(model.requests, ensure_ascii=False, default=str),
                "webhook": "\n".join(sink.bodies),
                "shown": desk.run("show", report["run_id"]).out,
                "artifacts": _files(desk.data_dir / "artifacts"),
            }
            assert "coordinator.advance" in places["flower"]
            assert report["run_id"][:13] in places["flower"]
            found = [
                (place, secret) for place, text in places.items() for secret in PLANTED if secret in text
            ]
            assert found == []


def _run(desk: Desk) -> dict[str, Any]:
    assert desk.working_dir is not None
    log = desk.working_dir / "app.log"
    log.write_text(
        "2026-11-29T03:00:00Z INFO user li.wei@example.com.cn tel=13800138000 logged in\n"
        f"2026-11-29T03:00:01Z ERROR pool exhausted: 2/2 connections, password={PASSWORD} "
        f"Authorization: Bearer {TOKEN} 密码：{PASSWORD}\n" + secrets_planted.planted_log()
    )
    url = desk.status()["broker_url"]
    app = Celery(broker=url, backend=url)
    text = f"checkout returns 503; login password={PASSWORD}, token {TOKEN}, call 13800138000 or {EMAIL}; notify the team"
    sent = app.send_task(
        "coordinator.submit", kwargs={"text": text, "sources": [str(log)]}, queue="coordinator"
    )
    report: dict[str, Any] = sent.get(timeout=90)
    app.close()
    return report


def _files(folder: Path) -> str:
    files = sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
    return "\n".join(path.read_text(errors="replace") for path in files)


def _sql(desk: Desk) -> str:
    connection = sqlite3.connect(desk.data_dir / "nightdesk.db")
    text = "\n".join(connection.iterdump())
    connection.close()
    return text


def _redis(desk: Desk) -> str:
    """Everything in Redis, as bytes and with message bodies decoded."""
    import redis

    client = redis.Redis.from_url(desk.status()["broker_url"])
    texts = []
    for key in client.scan_iter(count=1000):
        kind = client.type(key)
        if kind == b"string":
            texts.append(client.get(key))
        elif kind == b"list":
            texts += client.lrange(key, 0, -1)
        elif kind == b"hash":
            texts += client.hgetall(key).values()
        elif kind == b"stream":
            texts += [value for _, fields in client.xrange(key) for value in fields.values()]
        elif kind == b"zset":
            texts += client.zrange(key, 0, -1)
        elif kind == b"set":
            texts += client.smembers(key)
    client.close()
    decoded = [t.decode(errors="replace") for t in texts]
    for text in list(decoded):
        try:
            decoded.append(base64.b64decode(json.loads(text)["body"]).decode())
        except (ValueError, KeyError, TypeError):
            continue
    return "\n".join(decoded)


def _flower(desk: Desk) -> str:
    status = desk.status()
    password = (desk.data_dir / "flower.password").read_text().strip()
    token = base64.b64encode(f"nightdesk:{password}".encode()).decode()
    request = urllib.request.Request(
        f"{status['flower_url']}/api/tasks", headers={"Authorization": f"Basic {token}"}
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.read().decode()
