from pathlib import Path

import pytest

from kernel.settings import Settings


def test_a_fresh_machine_needs_no_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = Settings()
    assert made.endpoints == []
    assert made.data == tmp_path / ".nightdesk"
    assert made.roots == [tmp_path.resolve(), Path("/var/log")]


def test_secrets_hold_keys_and_the_passwords_of_addresses() -> None:
    made = Settings(
        redis_url="redis://:redis-pass-1@h:6379/0",
        database_url="postgresql+psycopg://u:sql-pass-22@h/db",
        model_base_url="http://h/v1",
        model_name="m",
        model_api_key="sk-abcdef",
        model_fallbacks=[{"base_url": "http://g/v1", "model": "n", "api_key": "fallback-key"}],
        log_tokens={"gateway": "loki-token-1"},
    )
    assert {"redis-pass-1", "sql-pass-22", "sk-abcdef", "fallback-key", "loki-token-1"} <= set(made.secrets())
    assert not any(secret in repr(made.model_fallbacks) for secret in made.secrets())


def test_short_words_are_no_secrets() -> None:
    assert Settings(model_api_key="none", webhook_secret="abc").secrets() == []


@pytest.mark.parametrize(("profile", "recovery"), [("default", 20.0), ("fast", 5.0)])
def test_a_profile_recovers_in_time(profile: str, recovery: float) -> None:
    made = Settings(lease_profile=profile)
    assert made.lease_seconds + made.reconcile_seconds <= recovery
