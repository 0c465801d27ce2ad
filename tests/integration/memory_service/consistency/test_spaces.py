"""Another model: the old space is served until the new one is built beside it, and there is a way back."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread

import pytest
from sqlmodel import col, func, select

from kernel.errors import Correctable, Refused, Retryable
from memory_service import lexical
from memory_service.audit import take_turn
from memory_service.consistency.space import current_space
from memory_service.consistency.tending import Tending
from memory_service.domain import Status
from memory_service.embed.hash import HashEmbedder
from memory_service.embed.port import Vector, unit
from memory_service.tables import EmbedCacheRow, EmbedSpaceRow, MemoryOutboxRow, MemoryRow, MemoryStateRow
from tests.integration.memory_service.world import World, world

OLD = "hash-ngram-256-256-1"
TEXTS = [f"memory number {n} of the checkout pool" for n in range(40)]


class Other(HashEmbedder):
    """A second model with the same dimensions: what checks of dimensions miss."""

    name = "hash/other"

    def question(self, text: str) -> Vector:
        return list(reversed(super().question(text)))


class Swapped(Other):
    """The model behind the same name was changed."""

    name = HashEmbedder.name


class Short(HashEmbedder):
    """A model of other dimensions."""

    name = "hash/short"

    def question(self, text: str) -> Vector:
        return unit(super().question(text)[:64])


def active(desk: World) -> dict[str, int]:
    query = select(MemoryRow.id, MemoryStateRow.rev).where(
        col(MemoryRow.pk) == col(MemoryStateRow.pk), MemoryStateRow.status == Status.active.value
    )
    with desk.database.reading() as session:
        return dict(session.exec(query).all())


def waiting(desk: World) -> int:
    with desk.database.reading() as session:
        return session.exec(select(func.count()).select_from(MemoryOutboxRow)).one()


def served(desk: World) -> str:
    return str(desk.spaces.standing()["served"]["id"])


def remember_all(folder: Path) -> list[str]:
    with world(folder) as desk:
        for text in TEXTS:
            desk.remember(text, relay=False)
        desk.relay.drain()
        return list(active(desk))


@pytest.mark.parametrize("model", [Other(), Short()])
def test_another_model_is_refused_and_the_old_space_served_and_written_to(
    tmp_path: Path, model: HashEmbedder
) -> None:
    remember_all(tmp_path)
    with world(tmp_path, embedder=model, others=[HashEmbedder()]) as desk:
        warning = desk.spaces.begin()
        assert HashEmbedder.name in warning
        assert model.name in warning
        assert "nightdesk memory migrate" in warning
        assert served(desk) == OLD
        desk.remember("the gateway certificate expired")
        assert desk.texts("gateway certificate expired")[0] == "the gateway certificate expired"
        assert desk.texts(TEXTS[3])[0] == TEXTS[3]
        assert desk.index.revisions() == active(desk)
        with pytest.raises(Refused, match="hash/ngram-256, not by"):
            current_space(desk.database, model)


def test_the_same_name_with_other_vectors_is_another_model(tmp_path: Path) -> None:
    remember_all(tmp_path)
    with world(tmp_path, embedder=Swapped()) as desk:
        assert "nightdesk memory migrate" in desk.spaces.begin()
        # the old model is gone with its name: lookups go on, nothing is compared with vectors of another
        assert desk.spaces.standing()["ranked"] is False
        desk.remember("the pager number is 4711", key="pager number", kind="fact")
        desk.remember("I prefer short answers", key="length", kind="preference")
        texts = desk.texts("what is the pager number?")
        assert texts == ["the pager number is 4711", "I prefer short answers"]
        assert desk.texts(TEXTS[3]) == ["I prefer short answers"]
        assert waiting(desk) == 0
        desk.spaces.migrate()
        assert desk.spaces.build()
        desk.serve()
        assert desk.texts(TEXTS[3])[0] == TEXTS[3]
        assert desk.index.revisions() == active(desk)
    with world(tmp_path, embedder=Swapped()) as desk:
        assert desk.spaces.begin() == ""
        assert desk.drift() == 0


@pytest.mark.parametrize("model", [Other(), Short()])
def test_migrating_builds_beside_swaps_and_can_be_rolled_back(tmp_path: Path, model: HashEmbedder) -> None:
    ids = remember_all(tmp_path)
    with world(tmp_path, embedder=model, others=[HashEmbedder()]) as desk:
        begun = desk.spaces.migrate()
        assert (begun["shadow"]["done"], begun["shadow"]["total"]) == (0, 40)
        new = begun["shadow"]["id"]
        # while it is built, writes go to both, and the old one is served
        desk.memory.forget({"id": ids[0]})
        desk.remember("told while the new index was built")
        assert desk.texts("told while the new index was built")[0].startswith("told while")
        assert served(desk) == OLD
        assert desk.spaces.build()
        standing = desk.spaces.standing()
        assert (standing["served"]["id"], standing["shadow"]) == (new, None)
        assert standing["last_build"]["rows"] == 40
        assert 0 < standing["last_build"]["overlap"] <= 1
        desk.serve()
        assert desk.index.revisions() == active(desk)
        assert desk.texts("told while the new index was built")[0].startswith("told while")
        desk.remember("told after the swap")
        # and back: what was told since is brought into the old space first
        assert desk.spaces.roll_back()["shadow"]["id"] == OLD
        assert served(desk) == new
        assert desk.spaces.build()
        assert served(desk) == OLD
        desk.serve()
        assert desk.index.revisions() == active(desk)
        assert desk.texts("told after the swap")[0] == "told after the swap"
        assert desk.drift() == 0


def test_a_build_that_was_cut_goes_on_where_it_was(tmp_path: Path) -> None:
    remember_all(tmp_path)
    embedded: list[str] = []

    class Counting(Other):
        def passages(self, texts: list[str]) -> list[Vector]:
            embedded.extend(text for text in texts if text in TEXTS)
            return super().passages(texts)

    with world(tmp_path, embedder=Counting(), others=[HashEmbedder()]) as desk:
        desk.spaces.migrate()
        assert desk.spaces.build(seconds=0) is False
        progress = desk.spaces.standing()["shadow"]
        assert 0 < progress["done"] < progress["total"] == 40
    with world(tmp_path, embedder=Counting(), others=[HashEmbedder()]) as desk:
        assert desk.spaces.standing()["shadow"]["done"] == progress["done"]
        assert desk.spaces.build()
        assert sorted(embedded) == sorted(TEXTS), "each text is embedded once"
        desk.serve()
        assert desk.index.revisions() == active(desk)


def test_an_outbox_batch_is_settled_only_when_every_space_has_it(tmp_path: Path) -> None:
    remember_all(tmp_path)
    with world(tmp_path, embedder=Other(), others=[HashEmbedder()]) as desk:
        [alone] = desk.targets.written()
        began: list[str] = []

        def late() -> list[object]:
            # another worker begins a migration between this one's look and its settling
            if not began:
                began.append(desk.spaces.migrate()["shadow"]["id"])
                return [alone]
            return list(desk.targets.written())

        desk.relay._targets = late  # type: ignore[assignment]
        id_ = desk.remember("told at the very moment")
        assert waiting(desk) == 0
        [_, shadow] = desk.targets.written()
        assert [held.id for held in shadow.index.held([id_])] == [id_]


def test_the_build_can_be_given_up_and_leaves_nothing(tmp_path: Path) -> None:
    remember_all(tmp_path)
    with world(tmp_path, embedder=Other(), others=[HashEmbedder()]) as desk:
        new = desk.spaces.migrate()["shadow"]["id"]
        desk.spaces.build(seconds=0)
        assert desk.spaces.roll_back()["shadow"] is None
        assert desk.spaces.clear() == [new]
        assert not (tmp_path / "edge" / new).exists()
        with pytest.raises(Correctable, match="no space to go back to"):
            desk.spaces.roll_back()
        assert served(desk) == OLD
        assert desk.drift() == 0


def test_a_retired_space_is_kept_for_its_days_and_then_deleted_with_its_vectors(tmp_path: Path) -> None:
    remember_all(tmp_path)
    with world(tmp_path, embedder=Other(), others=[HashEmbedder()]) as desk:
        desk.spaces.migrate()
        assert desk.spaces.build()
        with desk.database.writing("test") as session:
            row = session.get(EmbedSpaceRow, OLD)
            assert row is not None
            row.retired_at = desk.now
            session.add(row)
        desk.pass_days(6.9)
        assert desk.spaces.clear() == []
        desk.pass_days(0.2)
        assert desk.spaces.clear() == [OLD]
        assert not (tmp_path / "edge" / OLD).exists()
        with desk.database.reading() as session:
            assert session.exec(select(EmbedCacheRow).where(EmbedCacheRow.space_id == OLD)).all() == []
            assert len(session.exec(select(EmbedCacheRow)).all()) == 40
        with pytest.raises(Correctable, match="no space to go back to"):
            desk.spaces.roll_back()


def test_rebuilding_embeds_nothing_again_and_shares_the_vectors_when_the_old_one_is_deleted(
    tmp_path: Path,
) -> None:
    embedded: list[str] = []

    class Counting(HashEmbedder):
        def passages(self, texts: list[str]) -> list[Vector]:
            embedded.extend(text for text in texts if text in TEXTS)
            return super().passages(texts)

    remember_all(tmp_path)
    with world(tmp_path, embedder=Counting()) as desk:
        with pytest.raises(Correctable, match="served by hash/ngram-256 already"):
            desk.spaces.migrate()
        new = desk.spaces.rebuild()["shadow"]["id"]
        with pytest.raises(Correctable, match="being built already"):
            desk.spaces.rebuild()
        assert desk.spaces.build()
        last = desk.spaces.standing()["last_build"]
        assert (last["space"], last["rows"]) == (new, 40)
        assert last["overlap"] > 0.9, "the same vectors; equal scores may stand in another order"
        desk.serve()
        assert desk.index.revisions() == active(desk)
        desk.pass_days(10_000)
        assert desk.spaces.clear() == [OLD]
        again = desk.spaces.rebuild()["shadow"]["id"]
        assert again not in (OLD, new)
        assert desk.spaces.build()
        desk.serve()
        assert desk.index.revisions() == active(desk)
        assert embedded == []


def test_a_rollback_to_a_model_that_is_gone_is_refused(tmp_path: Path) -> None:
    remember_all(tmp_path)
    with world(tmp_path, embedder=Other(), others=[HashEmbedder()]) as desk:
        desk.spaces.migrate()
        assert desk.spaces.build()
    with world(tmp_path, embedder=Other()) as desk:
        with pytest.raises(Refused, match="cannot be served again"):
            desk.spaces.roll_back()
        assert desk.spaces.standing()["shadow"] is None


def test_an_index_that_turns_out_unreadable_is_set_aside_and_filled_again_by_the_next_tick(
    tmp_path: Path,
) -> None:
    remember_all(tmp_path)
    with world(tmp_path) as desk:
        tending = Tending(desk.relay, desk.targets, desk.spaces, Event())
        version = desk.targets.version
        (tmp_path / "edge" / OLD / "damaged").write_text("Failed to decompress")
        tending.tick(desk.memory.relay)
        assert desk.targets.version > version, "whoever holds the old index asks again"
        desk.serve()
        assert desk.index.revisions() == active(desk)
        assert desk.texts(TEXTS[3])[0] == TEXTS[3]
        assert len(list((tmp_path / "edge" / OLD).glob("damaged-*"))) == 1


def test_a_tick_goes_on_with_the_build_that_a_dead_worker_left(tmp_path: Path) -> None:
    remember_all(tmp_path)
    with world(tmp_path) as desk:
        new = desk.spaces.rebuild()["shadow"]["id"]
    with world(tmp_path) as desk:
        tending = Tending(desk.relay, desk.targets, desk.spaces, Event())
        tending.tick(desk.memory.relay)
        assert served(desk) == new
        desk.pass_days(10_000)
        desk.index.delete(list(active(desk))[:1])
        assert tending.reconcile("full").total == 0, "the new index is whole"
        assert not (tmp_path / "edge" / OLD).exists()
        assert tending.reconcile().looked_at == 40


def of_old_words(desk: World, id_: str, words: int | None = None) -> None:
    """Let a space be one whose keywords an older version wrote; the first ones told no version."""
    with desk.database.writing("test") as session:
        row = session.get(EmbedSpaceRow, id_)
        assert row is not None
        others = {name: value for name, value in row.made_by.items() if name != "words"}
        row.made_by = others if words is None else {**others, "words": words}
        row.calibration = {"scale": {"low": 0.1, "middle_cut": 0.2, "high_cut": 0.9}}
        session.add(row)


@pytest.mark.parametrize("words", [None, lexical.VERSION - 1, lexical.VERSION + 1])
def test_an_index_with_the_words_of_another_version_is_built_anew_by_itself(
    tmp_path: Path, words: int | None
) -> None:
    remember_all(tmp_path)
    with world(tmp_path) as desk:
        assert desk.spaces.renew_words() == ""
        of_old_words(desk, OLD, words)
    with world(tmp_path) as desk:
        new = desk.spaces.renew_words()
        assert new not in ("", OLD)
        assert desk.spaces.renew_words() == "", "it is begun once"
        assert served(desk) == OLD
        Tending(desk.relay, desk.targets, desk.spaces, Event()).tick(desk.memory.relay)
        assert served(desk) == new
        with desk.database.reading() as session:
            row = session.get(EmbedSpaceRow, new)
            assert row is not None
            assert (row.made_by["words"], row.vectors_of) == (lexical.VERSION, OLD)
            assert row.calibration["scale"]["high_cut"] == 0.9, "what was measured of the model still holds"
        # the way back leads to the same model with the words of today, not to the old index
        assert desk.spaces.roll_back()["shadow"]["id"] not in (OLD, new)
    with world(tmp_path) as desk:
        assert desk.spaces.renew_words() == ""


def test_a_build_under_way_with_the_words_of_another_version_begins_anew(tmp_path: Path) -> None:
    remember_all(tmp_path)
    with world(tmp_path, embedder=Other(), others=[HashEmbedder()]) as desk:
        begun = desk.spaces.migrate()["shadow"]["id"]
        desk.spaces.build(seconds=0)
        of_old_words(desk, begun)
    with world(tmp_path, embedder=Other(), others=[HashEmbedder()]) as desk:
        new = desk.spaces.renew_words()
        assert desk.spaces.standing()["shadow"]["id"] == new != begun
        assert desk.spaces.build()
        assert desk.spaces.standing()["served"]["model"] == Other.name
        desk.serve()
        assert desk.index.revisions() == active(desk)
        assert begun in desk.spaces.clear()


def test_words_are_not_renewed_where_the_model_is_gone(tmp_path: Path) -> None:
    remember_all(tmp_path)
    with world(tmp_path, embedder=Other()) as desk:
        of_old_words(desk, OLD)
        assert desk.spaces.renew_words() == ""
        assert desk.spaces.standing()["shadow"] is None


def test_giving_up_a_build_waits_for_the_swap_under_way_and_leaves_one_space_served(desk: World) -> None:
    old = served(desk)
    new = desk.spaces.rebuild()["shadow"]["id"]
    giving_up = Thread(target=desk.spaces.roll_back)
    with desk.database.writing("test") as session:
        take_turn(session)
        shadow, before = session.get_one(EmbedSpaceRow, new), session.get_one(EmbedSpaceRow, old)
        shadow.state, before.state, before.retired_at = "current", "retired", desk.now
        session.flush()
        giving_up.start()
        giving_up.join(0.3)
        assert giving_up.is_alive(), "it waits for its turn"
    giving_up.join()
    assert served(desk) == new


def test_an_endpoint_that_was_away_when_the_index_was_opened_is_asked_again(tmp_path: Path) -> None:
    remember_all(tmp_path)
    away = [True]

    class Away(HashEmbedder):
        def passages(self, texts: list[str]) -> list[Vector]:
            if away:
                raise Retryable("the endpoint is away")
            return super().passages(texts)

    with world(tmp_path, embedder=Other(), others=[Away()]) as desk:
        id_ = desk.remember("told while the endpoint was away")
        assert desk.spaces.standing()["ranked"] is False
        away.clear()
        version = desk.targets.version
        Tending(desk.relay, desk.targets, desk.spaces, Event()).tick(desk.memory.relay)
        assert desk.targets.version > version, "whoever holds the index without a model asks again"
        desk.serve()
        assert desk.texts(TEXTS[3])[0] == TEXTS[3]
        assert id_ in desk.index.revisions()
