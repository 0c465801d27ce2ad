"""What linters cannot say: sizes, words, doors, shipped files. One test per rule, each naming the offender."""

from __future__ import annotations

import ast
import importlib.metadata
import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("kernel", "coordinator", "agents", "memory_service")
SOURCES = sorted(
    path
    for package in (*PACKAGES, "ops", "examples")
    for path in (ROOT / package).rglob("*.py")
    if "migrations/versions" not in path.as_posix() and "__pycache__" not in path.parts
)
MAX_MODULE_LINES = 250
MAX_FUNCTION_LINES = 40
BANNED_WORDS = {"utils", "helpers", "common", "base", "manager", "handler", "processor", "data", "info"}
BROAD_EXCEPT_ALLOWED = {"kernel/process.py", "agents/runtime/execution.py"}


def trees() -> list[tuple[str, str, ast.Module]]:
    texts = [(p.relative_to(ROOT).as_posix(), p.read_text(encoding="utf-8")) for p in SOURCES]
    return [(name, text, ast.parse(text)) for name, text in texts]


TREES = trees()


def test_there_is_something_to_check() -> None:
    assert len(TREES) > 80


def test_modules_stay_short() -> None:
    assert [(n, len(t.splitlines())) for n, t, _ in TREES if len(t.splitlines()) > MAX_MODULE_LINES] == []


def test_functions_stay_short() -> None:
    long = [
        (name, node.name, node.end_lineno - node.lineno + 1)
        for name, _, tree in TREES
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > MAX_FUNCTION_LINES
    ]
    assert long == []


def test_every_module_says_what_it_owns() -> None:
    assert [name for name, text, tree in TREES if text.strip() and not ast.get_docstring(tree)] == []


def test_modules_have_no_drawer_names() -> None:
    found = [name for name, _, _ in TREES if set(Path(name).stem.split("_")) & BANNED_WORDS]
    assert found == []


def test_broad_excepts_stand_only_at_the_two_boundaries() -> None:
    found = [
        (name, node.lineno)
        for name, _, tree in TREES
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler)
        and (
            node.type is None
            or (isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException"))
        )
        and name not in BROAD_EXCEPT_ALLOWED
    ]
    assert found == []


@pytest.mark.parametrize(
    "word", ["TO" + "DO", "FIX" + "ME", "Not" + "ImplementedError", "shell=" + "True", "unittest" + ".mock"]
)
def test_no_shortcuts(word: str) -> None:
    tests = [
        (p.relative_to(ROOT).as_posix(), p.read_text(encoding="utf-8"))
        for p in (ROOT / "tests").rglob("*.py")
    ]
    both = [(name, text) for name, text, _ in TREES] + tests
    assert [name for name, text in both if word in text] == []


def test_every_exception_to_a_rule_has_its_reason() -> None:
    pattern = re.compile(
        r"#\s*(?:noqa(?::\s*[A-Z]+\d+(?:,\s*[A-Z]+\d+)*)?|type:\s*ignore(?:\[[\w, -]+\])?)\s*$", re.MULTILINE
    )
    assert [(name, m.group()) for name, text, _ in TREES for m in pattern.finditer(text)] == []


def test_only_settings_read_the_environment() -> None:
    found = [name for name, text, _ in TREES if re.search(r"os\.(environ|getenv)", text)]
    assert [name for name in found if name.split("/")[0] in PACKAGES and name != "kernel/settings.py"] == []


def test_agents_is_our_package() -> None:
    import agents

    assert Path(agents.__file__).is_relative_to(ROOT)
    # an editable install lists no packages, so nobody may be the right answer too
    assert importlib.metadata.packages_distributions().get("agents", ["nightdesk"]) == ["nightdesk"]
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        importlib.metadata.version("openai-agents")


def test_ops_and_tests_are_no_packages() -> None:
    assert not (ROOT / "ops" / "__init__.py").exists()
    assert not (ROOT / "tests" / "__init__.py").exists()


def test_the_locks_name_no_index() -> None:
    for lock in (ROOT / "ops").glob("requirements*.txt"):
        text = lock.read_text(encoding="utf-8")
        assert "--hash=sha256:" in text
        assert not re.search(r"--(extra-)?index-url|https?://", text), lock.name


def test_no_committed_file_names_a_machine_path() -> None:
    names = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    word = "/" + "work/"
    found = []
    for name in filter(None, names):
        path = ROOT / name
        if path.is_file() and word in path.read_text(encoding="utf-8", errors="ignore"):
            found.append(name)
    assert found == []


def test_the_page_on_architecture_and_the_tree_agree() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    block = re.search(r"```tree\n(.*?)```", page, re.DOTALL)
    assert block is not None
    told = {line.split()[0].rstrip("/") for line in block[1].splitlines() if line.strip()}
    real = set()
    for package in PACKAGES:
        for path in (ROOT / package).iterdir():
            if (path.suffix == ".py" and path.stem != "__init__") or (
                path.is_dir() and path.name != "__pycache__"
            ):
                real.add(f"{package}/{path.stem if path.suffix == '.py' else path.name}")
    assert told == real, f"missing on the page: {sorted(real - told)}; not in the tree: {sorted(told - real)}"


def test_every_agent_is_in_the_linters_layers() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    agents = {p.parent.name for p in (ROOT / "agents").glob("*/agent.py")}
    assert agents
    assert all(name in text for name in agents)


def test_decisions_have_their_four_parts() -> None:
    pages = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    assert len(pages) >= 8
    for page in pages:
        text = page.read_text(encoding="utf-8")
        missing = [
            part
            for part in ("## Context", "## Decision", "## Consequences", "## What enforces it")
            if part not in text
        ]
        assert missing == [], page.name


def test_report_schema_is_frozen() -> None:
    from kernel.reports import REPORT_VERSION, Report

    golden = ROOT / "tests" / "unit" / "kernel" / "golden" / f"report-v{REPORT_VERSION}.json"
    assert Report.model_json_schema() == json.loads(golden.read_text(encoding="utf-8")), (
        "The report's shape changed: raise REPORT_VERSION, write a new golden file and docs/report.md."
    )
