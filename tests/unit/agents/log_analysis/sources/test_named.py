from __future__ import annotations

import os
from pathlib import Path

import pytest

from agents.log_analysis.sources.finding import resolve
from agents.log_analysis.sources.named import available, named_sources
from kernel.contracts import Source
from kernel.errors import Correctable, Fatal, Refused
from kernel.settings import HOME, Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(log_sources=tmp_path / "sources.yaml", log_roots=[tmp_path / "roots"])


def say(settings: Settings, text: str) -> None:
    assert settings.log_sources is not None
    settings.log_sources.write_text(text, encoding="utf-8")


def test_the_file_that_is_shipped_names_none_and_its_examples_are_good(settings: Settings) -> None:
    assert named_sources(Settings()) == {}
    text = (HOME / "ops" / "sources.yaml").read_text(encoding="utf-8")
    example = text[text.index("# sources:\n") : text.index("sources: {}")]
    say(settings, "\n".join(line[2:] for line in example.splitlines()))
    assert sorted(named_sources(settings)) == ["checkout", "gateway", "pods", "system"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sources: {a: {}}", "sources.a: give exactly one of paths, loki and journald"),
        ("sources: {a: {paths: [/x/y], journald: {}}}", "not paths and journald"),
        ("sources: {a: {paths: [logs/x]}}", "sources.a.paths: 'logs/x' must be an absolute path"),
        ("sources: {a: {paths: [/x/../y/z]}}", "without '..'"),
        ("sources: {a: {paths: ['/**/*.log']}}", "would open the whole machine"),
        (
            "sources: {a: {paths: [/x/y], zone: Mars/Olympus}}",
            "sources.a.zone: 'Mars/Olympus' is no IANA time zone",
        ),
        (
            "sources: {a: {paths: [/x/y], format: cuneiform}}",
            "sources.a.format: no format is named 'cuneiform'",
        ),
        ("sources: {a: {paths: [/x/y], colour: red}}", "sources.a.colour"),
        ("sources: {'a/b': {paths: [/x/y]}}", "'a/b': a name has letters"),
        (
            "sources: {a: {loki: {url: 'ftp://x', query: '{}'}}}",
            "sources.a.loki.url: 'ftp://x' is no address",
        ),
        ("sources: {a: {loki: {url: 'http://u:p@x', query: '{}'}}}", "NIGHTDESK_LOG_TOKENS"),
        (
            "sources: {a: {loki: {url: 'http://x', query: 'rate(x)'}}}",
            "sources.a.loki.query: it must be a LogQL query",
        ),
        ("sources: {a: {journald: {units: ['--file=/etc/shadow']}}}", "sources.a.journald.units.0"),
        ("sources: [a]", "sources: Input should be a valid dictionary"),
        ("- a", "its top level is not a mapping"),
        ("a: {b: [}", "it is not YAML"),
        ("more: {}", "more: Extra inputs"),
    ],
)
def test_a_wrong_file_says_which_source_which_key_and_why(settings: Settings, text: str, words: str) -> None:
    say(settings, text)
    with pytest.raises(Fatal) as told:
        available(settings)
    assert words in told.value.why
    assert "sources.yaml cannot be used" in told.value.what


def test_a_file_that_was_asked_for_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(Fatal, match="No such file"):
        available(Settings(log_sources=tmp_path / "gone.yaml"))
    assert available(Settings(ops_dir=tmp_path)) == []


def test_what_can_be_reached_now_is_offered(settings: Settings, tmp_path: Path) -> None:
    say(
        settings,
        f"sources: {{结账: {{paths: ['{tmp_path}/srv/*.log']}}, far: {{loki: {{url: 'http://x', query: '{{}}'}}}}}}",
    )
    assert available(settings) == ["far"]
    (tmp_path / "srv").mkdir()
    assert available(settings) == ["far"]
    (tmp_path / "srv" / "a.log").write_text("x\n")
    assert available(settings) == ["far", "结账"]
    say(settings, "sources:")
    assert available(settings) == []


def test_a_name_is_read_where_its_owner_says_whatever_the_roots(settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "srv" / "logs"
    folder.mkdir(parents=True)
    for name in ("app.log", "app.log.1", "other.txt"):
        (folder / name).write_text("x\n")
    (tmp_path / "secret").write_text("x\n")
    (folder / "link.log").symlink_to(tmp_path / "secret")
    say(settings, f"sources: {{checkout: {{paths: ['{folder}/*.log*'], zone: Asia/Tokyo, format: java}}}}")
    files, problems = resolve([Source(name="checkout")], settings.roots, {}, named_sources(settings))
    assert problems == []
    assert [f.name for f in files] == ["checkout/app.log.1", "checkout/app.log"]
    assert {(f.zone, f.format) for f in files} == {("Asia/Tokyo", "log4j")}
    asked = Source(name="checkout", zone="UTC", format="json")
    (first, *_), _ = resolve([asked], settings.roots, {}, named_sources(settings))
    assert (first.zone, first.format) == ("UTC", "json")
    # the same file by its path is not for everybody
    _, problems = resolve(
        [Source(name="x", path=str(folder / "app.log"))], settings.roots, {}, named_sources(settings)
    )
    assert isinstance(problems[0], Refused)


def test_one_file_is_cited_by_the_bare_name(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("x\n")
    say(
        settings,
        f"sources: {{checkout: {{paths: ['{tmp_path}/a.log']}}, gone: {{paths: ['{tmp_path}/b.log']}}}}",
    )
    files, problems = resolve(
        [Source(name="checkout"), Source(name="gone")], settings.roots, {}, named_sources(settings)
    )
    assert [f.name for f in files] == ["checkout"]
    assert "nothing matches" in problems[0].why


def test_an_unknown_name_says_which_there_are(settings: Settings, tmp_path: Path) -> None:
    say(settings, f"sources: {{checkout: {{paths: ['{tmp_path}/*.log']}}}}")
    _, problems = resolve([Source(name="chekout")], settings.roots, {}, named_sources(settings))
    assert isinstance(problems[0], Correctable)
    assert "names checkout" in problems[0].why


def test_links_of_a_node_lead_to_its_pods_and_are_named_by_them(settings: Settings, tmp_path: Path) -> None:
    pod = tmp_path / "pods" / "shop_gw-7d9f_1b2c3d4e-0000-0000-0000-000000000000" / "gateway"
    pod.mkdir(parents=True)
    (pod / "0.log").write_text("x\n")
    (pod / "1.log").write_text("x\n")
    (pod / "0.log.20261129-134501.gz").write_text("x\n")
    links = tmp_path / "containers"
    links.mkdir()
    (links / f"gw-7d9f_shop_gateway-{'ab' * 32}.log").symlink_to(pod / "1.log")
    say(
        settings,
        f"sources: {{pods: {{paths: ['{links}/*.log', '{tmp_path}/pods']}}, links: {{paths: ['{links}/*.log']}}}}",
    )
    files, _ = resolve([Source(name="pods")], settings.roots, {}, named_sources(settings))
    assert {f.name for f in files} == {
        "pods/gw-7d9f/gateway",
        "pods/gw-7d9f/gateway/0.log",
        "pods/gw-7d9f/gateway/0.log.20261129-134501.gz",
    }
    assert {f.service for f in files} == {"gateway"}
    # the links alone lead out of what was named
    _, problems = resolve([Source(name="links")], settings.roots, {}, named_sources(settings))
    assert isinstance(problems[0], Refused)
    allowed, _ = resolve(
        [Source(name="links")], [Path(os.path.realpath(tmp_path / "pods"))], {}, named_sources(settings)
    )
    assert [f.name for f in allowed] == ["links/gw-7d9f/gateway"]


def test_a_container_of_docker_goes_by_its_name(settings: Settings, tmp_path: Path) -> None:
    number = "0123456789ab" + "c" * 52
    folder = tmp_path / "containers" / number
    folder.mkdir(parents=True)
    (folder / f"{number}-json.log").write_text("{}\n")
    say(settings, f"sources: {{docker: {{paths: ['{tmp_path}/containers/*/*-json.log*']}}}}")
    (file,), _ = resolve([Source(name="docker")], [], {}, named_sources(settings))
    assert file.name == "docker/0123456789ab"
    (folder / "config.v2.json").write_text('{"Name": "/web", "Config": {"Env": ["A=b"]}}')
    (file,), _ = resolve([Source(name="docker")], [], {}, named_sources(settings))
    assert (file.name, file.service) == ("docker/web", "web")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "sources:\n  a:\n    loki: {url: 'ftp://u:s3cret@x', query: '{}'}",
            "sources.a.loki.url: it may not carry",
        ),
        ("sources:\n  a: {token: s3cret, paths: [", "line 2"),
        (
            "sources:\n  a:\n    loki: {url: 'http://x', query: '{}', tenant: \"o\\n1\"}",
            "sources.a.loki.tenant",
        ),
    ],
)
def test_what_is_wrong_is_told_by_source_and_key_and_without_a_secret(
    settings: Settings, text: str, told: str
) -> None:
    say(settings, text)
    with pytest.raises(Fatal) as error:
        available(settings)
    assert told in str(error.value)
    assert str(settings.log_sources) in str(error.value)
    assert "s3cret" not in str(error.value)
