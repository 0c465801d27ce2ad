"""`nightdesk logs entities` and `follow` without a desk: tables at every width, JSON, CSV, what a person can mend."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from coordinator.cli.app import app


def run(*arguments: object, columns: int = 200) -> Result:
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(app, ["logs", *map(str, arguments)])


def document(*arguments: object) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Two files of 40 requests; one pod of two fails with the last five."""
    gateway, checkout = [], []
    for n in range(40):
        bad, trace = n >= 35, f"{n:016x}"
        pod = "web-0" if bad or n % 2 else "web-1"
        gateway.append(f"2026-11-29T10:{n:02d}:00Z INFO gateway trace_id={trace} took an order")
        told = "ERROR checkout 支付失败: pool exhausted" if bad else "INFO checkout paid"
        checkout.append(f"2026-11-29T10:{n:02d}:01Z {told} pod={pod} trace_id={trace}")
    (tmp_path / "gateway.log").write_text("\n".join(gateway) + "\n", encoding="utf-8")
    (tmp_path / "checkout.log").write_text("\n".join(checkout) + "\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("columns", [60, 100, 200])
def test_who_has_it_is_told_at_every_width(shop: Path, columns: int) -> None:
    shown = run("entities", shop, "--by", "pod", "--level", "error", "--utc", columns=columns).stdout
    assert "web-0" in shown
    assert "100.0%" in shown
    assert "of all" in shown
    where = f"{shop / 'checkout.log'}:36  2026-11-29 10:35:01 +0000"
    assert where.replace(" ", "") in shown.replace("\n", "").replace(" ", "")


def test_entities_are_rows_for_programs(shop: Path) -> None:
    asked = ("entities", shop, "--by", "pod", "--since", "2026-11-29T10:35:00Z")
    found = document(*asked)
    assert [(e["entity"], e["count"], e["all"]) for e in found["entities"]] == [("web-0", 5, 22)]
    (row,) = csv.DictReader(io.StringIO(run(*asked, "--csv").stdout))
    assert (row["entity"], row["count"], row["line"]) == ("web-0", "5", "36")
    assert "of_all" not in run("entities", shop, "--by", "colour").stdout
    assert "no line names a colour" in run("entities", shop, "--by", "colour").stderr


@pytest.mark.parametrize("columns", [60, 200])
def test_one_request_is_followed_through_all_files(shop: Path, columns: int) -> None:
    trace = f"{36:016x}"
    shown = run("follow", shop, "--id", trace, "--utc", columns=columns).stdout
    assert "2 events in 2 files" in shown
    assert "gateway → checkout" in shown
    assert "+1.000 s" in shown
    assert shown.rindex("gateway.log:37") < shown.rindex("checkout.log:37")
    rows = list(csv.DictReader(io.StringIO(run("follow", shop, "--id", trace, "--csv").stdout)))
    assert [r["service"] for r in rows] == ["gateway", "checkout"]
    assert document("follow", shop, "--id", trace)["first_error"]["line"] == 37


def test_without_an_id_those_that_fail_are_named(shop: Path) -> None:
    assert f"{35:016x}" in run("follow", shop).stdout
    found = document("follow", shop, "--limit", 2)
    assert (found["ids_total"], found["failed_total"], len(found["failed"])) == (40, 5, 2)
    rows = list(csv.DictReader(io.StringIO(run("follow", shop, "--csv").stdout)))
    assert [(r["id"], r["errors"]) for r in rows] == [(f"{n:016x}", "1") for n in range(35, 40)]
    early = document("follow", shop, "--until", "2026-11-29T10:20:00Z")
    assert (early["ids_total"], early["failed_total"]) == (21, 0)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("entities", "--by", "a b"), "nothing to break down by"),
        (("entities", "--since", "soon"), "no time"),
        (("follow", "--id", "abc"), "too short"),
        (("follow", "--id", "0123456789abcdef"), "no line carries"),
    ],
)
def test_what_a_person_can_mend_ends_with_two_and_three_parts(
    shop: Path, arguments: tuple[str, ...], word: str
) -> None:
    name, *options = arguments
    result = run(name, shop, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert word in result.stderr
    assert "why:" in result.stderr
    assert "next:" in result.stderr
