"""Prometheus, Grafana and Kubernetes files: valid, and about things that exist."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml
from flower.events import PrometheusMetrics

from kernel.broker import PRIORITIES, queue_keys

OPS = Path(__file__).parents[3] / "ops"
#: What Prometheus adds itself.
OWN = {"up"}
METRIC = re.compile(r"\b(flower_\w+|up)\b")


def _metrics() -> set[str]:
    import inspect

    source = inspect.getsource(PrometheusMetrics)
    names = set(re.findall(r"'(flower_\w+)'", source))
    return names | {f"{name}_bucket" for name in names} | OWN


def _alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load((OPS / "prometheus/alerts.yml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def test_alerts_ask_for_metrics_that_flower_has() -> None:
    rules = _alerts()
    assert rules
    for rule in rules:
        used = set(METRIC.findall(rule["expr"]))
        assert used, rule["alert"]
        assert used <= _metrics(), rule["alert"]
        assert rule["labels"]["severity"] in {"warning", "critical"}
        assert rule["annotations"]["summary"]
        assert rule["annotations"]["next_step"]


def test_prometheus_reads_the_alerts_and_gives_the_password() -> None:
    conf = yaml.safe_load((OPS / "prometheus/prometheus.yml").read_text())
    assert all((OPS / "prometheus" / name).exists() for name in conf["rule_files"])
    (job,) = conf["scrape_configs"]
    assert "password_file" in job["basic_auth"]


def test_the_dashboard_asks_for_metrics_that_flower_has() -> None:
    board = json.loads((OPS / "grafana/nightdesk.json").read_text())
    ids = [panel["id"] for panel in board["panels"]]
    assert len(ids) == len(set(ids)) >= 5
    for panel in board["panels"]:
        for target in panel["targets"]:
            assert set(METRIC.findall(target["expr"])) <= _metrics()


def test_kubernetes_has_a_deployment_per_queue_and_keda_follows_its_lists() -> None:
    deployments = list(yaml.safe_load_all((OPS / "k8s/workers.yaml").read_text()))
    queues = {}
    for deployment in deployments:
        spec = deployment["spec"]["template"]["spec"]
        (container,) = spec["containers"]
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert container["resources"]["limits"]["memory"]
        assert not container["image"].endswith(":latest")
        assert (
            deployment["spec"]["selector"]["matchLabels"]
            == deployment["spec"]["template"]["metadata"]["labels"]
        )
        if "-Q" in container["args"]:
            queues[deployment["metadata"]["name"]] = container["args"][container["args"].index("-Q") + 1]
    compose = yaml.safe_load((OPS.parent / "docker-compose.yml").read_text())["services"]
    assert queues == {
        name: s["command"][s["command"].index("-Q") + 1]
        for name, s in compose.items()
        if "-Q" in s.get("command", [])
    }
    steps = sorted(PRIORITIES.values())
    for scaled in yaml.safe_load_all((OPS / "k8s/scaling.yaml").read_text()):
        name = scaled["spec"]["scaleTargetRef"]["name"]
        lists = [trigger["metadata"]["listName"] for trigger in scaled["spec"]["triggers"]]
        wanted = [key for key in queue_keys(queues[name]) if key == queues[name] or int(key[-1]) in steps]
        assert lists == wanted
