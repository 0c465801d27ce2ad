"""A made-up conversation in LoCoMo's shape; every word of it is ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def _turns(session: int, *told: tuple[str, str]) -> list[dict[str, Any]]:
    return [
        {"speaker": speaker, "dia_id": f"D{session}:{number}", "text": text}
        for number, (speaker, text) in enumerate(told, 1)
    ]


def conversation() -> dict[str, Any]:
    first = _turns(
        1,
        ("Ilse", "Morning, Tam! How was the harbour?"),
        ("Tam", "Windy! I rented a small sailing boat there yesterday."),
        ("Ilse", "Did the children come along?"),
        ("Tam", "Only Nora. She caught a mackerel."),
        ("Ilse", "Lovely. I baked rye bread meanwhile."),
    )
    first[3] |= {"blip_caption": "a girl holding a silver fish", "query": "child fishing"}
    second = _turns(
        2,
        ("Tam", "I signed up for a carpentry course last week."),
        ("Ilse", "What will you build first?"),
        ("Tam", "A bookshelf made of oak."),
        ("Ilse", "My greenhouse needs new glass, by the way."),
    )
    return {
        "sample_id": "made-up-1",
        "conversation": {
            "speaker_a": "Ilse",
            "speaker_b": "Tam",
            "session_1_date_time": "9:05 am on 3 June, 2024",
            "session_1": first,
            "session_2_date_time": "6:40 pm on 20 July, 2024",
            "session_2": second,
            "session_3_date_time": "6:40 pm on 21 July, 2024",
        },
        "qa": [
            {
                "question": "When did Tam rent a boat?",
                "answer": "2 June 2024",
                "evidence": ["D1:2"],
                "category": 2,
            },
            {
                "question": "What will Tam build?",
                "answer": "a shelf",
                "evidence": ["D:2:3; D2:01"],
                "category": 1,
            },
            {"question": "What did Ilse bake?", "answer": "rye bread", "evidence": ["D1:05"], "category": 4},
            {"question": "Does Ilse sail?", "evidence": ["D1:2", "D9:9", "D"], "category": 5},
            {"question": "Who is Ottokar?", "answer": "nobody", "evidence": [], "category": 3},
        ],
    }


def written(folder: Path) -> Path:
    path = folder / "talk.json"
    path.write_text(json.dumps([conversation()]), encoding="utf-8")
    return path
