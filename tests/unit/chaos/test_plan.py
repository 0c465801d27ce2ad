"""A seed is a plan: the same one gives the same runs, keys and deeds, another one gives others."""

from __future__ import annotations

from tests.chaos.plan import Plan, mixed_runs, storm_acts

PROGRAMS = ["coordinator", "worldly", "beat"]


def storm(seed: int) -> Plan:
    return Plan(seed, 60.0, mixed_runs(seed, "storm", 200, 60.0), storm_acts(seed, 60.0, PROGRAMS))


def test_a_seed_repeats_its_plan() -> None:
    assert storm(7).as_json() == storm(7).as_json()
    assert storm(7).as_json() != storm(8).as_json()


def test_ids_belong_to_one_seed_and_scenario() -> None:
    ids = [run.id for name in ("storm", "rolling") for run in mixed_runs(7, name, 50, 10.0)]
    ids += [run.id for run in mixed_runs(8, "storm", 50, 10.0)]
    assert len(set(ids)) == len(ids) == 150


def test_the_monkey_keeps_its_times() -> None:
    acts = storm(7).acts
    kills = [act.at for act in acts if act.what == "kill"]
    assert kills == [1.0 + 2 * n for n in range(30)]
    assert [act.at for act in acts if act.what.startswith("redis")] == [10.0, 40.0]
    assert {act.what for act in acts} == {"kill", "zombie", "rolling", "redis_kill", "redis_stop"}
    assert not any(act.what == "rolling" for act in storm_acts(7, 60.0, PROGRAMS, rolling=False))
    assert not any(act.what == "zombie" and act.target.startswith("beat") for act in acts)


def test_a_mix_has_all_kinds_and_fates() -> None:
    runs = storm(7).runs
    kinds = {run.kind for run in runs}
    assert kinds == {"steps", "unsafe", "act-keyed", "act-probe", "act-unsafe", "logs", "fan", "model"}
    assert any(run.cancel_after for run in runs)
    assert any(run.deadline < 10 for run in runs)
    assert {run.decision for run in runs} == {"approved", "denied"}
    calm = mixed_runs(7, "rolling", 200, 60.0, calm=True)
    assert not any(run.cancel_after or run.deadline < 10 for run in calm)
