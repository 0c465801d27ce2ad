"""Loading of a catalogue folder: what is offered, what is not, and which mistakes stop the worker."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents.action_execution.catalogue import load_catalogue
from kernel.errors import Correctable, Fatal

REPO = Path(__file__).parents[4]
Write = Callable[..., Path]
SERVICES = {
    "services": {"web": {"health": "http://127.0.0.1:1/h", "control": ["{python}", "{actions_dir}/c.py"]}}
}
RESTART: dict[str, Any] = {
    "name": "restart_service",
    "description": "Restart a service, for tests.",
    "parameters": {
        "type": "object",
        "properties": {
            "service": {"x-inventory": "services"},
            "config": {"enum": ["good", "now"], "type": "string"},
        },
        "required": ["service", "config"],
    },
    "argv": ["{service.control}", "restart", "--config={config}"],
    "effect": "idempotent",
    "risk": "high",
    "target": "service:{service}",
    "verify": {"http": "{service.health}"},
    "rollback": {"action": "restart_service", "parameters": {"service": "{service}", "config": "now"}},
    "examples": {
        "accept": [{"service": "*", "config": "good"}],
        "refuse": [{"service": "x", "config": "good"}],
    },
}


def test_the_shipped_catalogue_loads_with_its_examples() -> None:
    catalogue = load_catalogue(REPO / "ops" / "actions")
    known = set(catalogue.actions) | set(catalogue.unavailable)
    assert {"disk_usage", "process_list", "service_health", "restart_service", "terminate_process"} <= known
    assert "inventory" in catalogue.unavailable["restart_service"]


def test_the_shipped_service_actions_work_with_an_inventory(tmp_path: Path) -> None:
    for name in ("service.yaml", "policy.yaml", "health.py"):
        (tmp_path / name).write_bytes((REPO / "ops" / "actions" / name).read_bytes())
    (tmp_path / "inventory.yaml").write_text(
        "services: {web: {health: 'http://127.0.0.1:1/', control: [ls], unit: web.service}}"
    )
    catalogue = load_catalogue(tmp_path)
    assert set(catalogue.actions) == {"service_health", "restart_service"}


def test_inventory_fields_and_builtins_fill_the_argv(write: Write) -> None:
    folder = write(RESTART, inventory=SERVICES)
    catalogue = load_catalogue(folder)
    action = catalogue.actions["restart_service"]
    resolved = catalogue.resolver.resolve(action, {"service": "web", "config": "good"})
    assert resolved.argv == [sys.executable, f"{folder}/c.py", "restart", "--config=good"]
    assert resolved.target == "service:web"
    assert resolved.verify_url == "http://127.0.0.1:1/h"
    assert resolved.undo == 'restart_service {"config": "now", "service": "web"}'
    assert catalogue.resolver.schema(action)["properties"]["service"] == {"type": "string", "enum": ["web"]}


def test_a_name_outside_the_inventory_is_refused(write: Write) -> None:
    catalogue = load_catalogue(write(RESTART, inventory=SERVICES))
    with pytest.raises(Correctable, match="not one of"):
        catalogue.resolver.resolve(
            catalogue.actions["restart_service"], {"service": "web; reboot", "config": "good"}
        )


def test_an_action_without_program_or_targets_is_not_offered(write: Write, echo: dict[str, Any]) -> None:
    missing = echo | {"name": "not_there", "argv": ["no-such-program-here", "{text}"]}
    forbidden = echo | {"name": "not_ever", "risk": "forbidden", "effect": "unsafe"}
    catalogue = load_catalogue(write(echo, missing, forbidden, RESTART, inventory={"services": {}}))
    assert list(catalogue.actions) == ["echo_text"]
    assert catalogue.unavailable == {
        "not_there": "'no-such-program-here' is not installed here",
        "not_ever": "the catalogue forbids it",
        "restart_service": "the inventory names no services",
    }


def test_programs_come_from_the_system_path_only(
    write: Write, echo: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "df"
    fake.write_text("#!/bin/sh\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    catalogue = load_catalogue(write(echo | {"argv": ["df", "{text}"]}))
    argv = catalogue.resolver.resolve(catalogue.actions["echo_text"], {"text": "/"}).argv
    assert argv[0].startswith("/")
    assert argv[0] != str(fake)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"argv": ["bash", "-c", "{text}"]}, "'bash' runs command lines"),
        ({"argv": ["/usr/bin/sudo", "/bin/sh", "{text}"]}, "'sh' runs command lines"),
        ({"argv": ["env", "{text}"]}, "'env' runs command lines"),
        ({"argv": ["{python}", "-c", "{text}"]}, "run text"),
        ({"argv": ["{python}", "-I", "-c", "{text}"]}, "run text"),
        ({"argv": ["perl", "-e", "1"]}, "run text"),
        ({"argv": ["{python}", "-I", "{text}"]}, "may not choose the file"),
        ({"argv": ["{text}"]}, "{text} may not stand here"),
        ({"argv": ["{python}", "x.py", "{other}"]}, "{other} may not stand here"),
        ({"argv": []}, "argv"),
        ({"risk": "read", "effect": "unsafe"}, "risk 'read'"),
        ({"effect": "probe", "risk": "low"}, "needs a probe"),
        ({"effect": "keyed", "risk": "low"}, "needs {key}"),
        ({"verify": {"http": "http://127.0.0.1/{text}"}}, "verify.http: {text}"),
        ({"verify": {"http": "file:///etc/passwd"}}, "only http"),
        ({"verify": {}}, "either argv or http"),
        ({"rollback": {"action": "undo_it"}}, "there is no action 'undo_it'"),
        ({"rollback": {"action": "echo_text", "parameters": {"zz": 1}}}, "no parameter 'zz'"),
        ({"name": "Bad Name"}, "name"),
        ({"timeout": 0}, "timeout"),
        ({"shell": True}, "shell"),
        ({"examples": {"accept": [{"text": "-x"}]}}, "must be accepted"),
        ({"examples": {"accept": [{"text": "x"}], "refuse": [{"text": "y"}]}}, "must be refused and is not"),
        ({"parameters": {"type": "object", "properties": {"text": {"type": "string"}}}}, "needs a maxLength"),
        (
            {"parameters": {"type": "object", "properties": {"text": {"type": "array"}}}},
            "the type must be one of",
        ),
        (
            {"parameters": {"type": "object", "properties": {"text": {"type": "string", "maxLength": 9}}}},
            "make it required",
        ),
        (
            {"parameters": {"type": "object", "properties": {"text": {"x-inventory": "hosts"}}}},
            "no group 'hosts'",
        ),
        ({"parameters": {"type": "array"}}, "must be object"),
        ({"parameters": {"type": "object", "properties": 7}}, "parameters"),
    ],
)
def test_a_bad_entry_stops_with_file_and_reason(
    write: Write, echo: dict[str, Any], change: dict[str, Any], reason: str
) -> None:
    with pytest.raises(Fatal) as caught:
        load_catalogue(write(echo | change))
    assert "tested.yaml" in str(caught.value)
    assert reason in str(caught.value)
    assert caught.value.next_step


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("actions: [", "not YAML"),
        ("[]", "not a mapping"),
        ("actions: {}", "one list"),
        ("x: 1", "one list"),
        ("\xff", "YAML"),
    ],
)
def test_a_bad_file_stops_with_file_and_reason(write: Write, text: str, reason: str) -> None:
    folder = write()
    (folder / "broken.yaml").write_bytes(text.encode("latin-1"))
    with pytest.raises(Fatal, match=reason) as caught:
        load_catalogue(folder)
    assert "broken.yaml" in str(caught.value)


def test_two_actions_of_one_name_stop(write: Write, echo: dict[str, Any]) -> None:
    with pytest.raises(Fatal, match="has an action of that name"):
        load_catalogue(write(echo, echo))


def test_an_inventory_may_not_hide_a_shell(write: Write) -> None:
    services = {"services": {"web": {"health": "http://127.0.0.1:1/", "control": ["sh", "-c", "x"]}}}
    with pytest.raises(Fatal, match=r"inventory\.yaml.*services\.web\.control"):
        load_catalogue(write(RESTART, inventory=services))


def test_a_missing_folder_stops(tmp_path: Path) -> None:
    with pytest.raises(Fatal, match="no action catalogue"):
        load_catalogue(tmp_path / "none")
