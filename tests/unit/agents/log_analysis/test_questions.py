"""What requests ask besides the cause, in many phrasings."""

from __future__ import annotations

import pytest

from agents.log_analysis.questions import Question, about_speed, question_of


@pytest.mark.parametrize(
    ("request_text", "bucket", "level"),
    [
        ("how many errors per minute?", "1m", "error"),
        ("Errors per hour since 10:20", "1h", "error"),
        ("how many requests per second", "1s", ""),
        ("what is the error rate over time?", "auto", "error"),
        ("show me a histogram of warnings", "auto", "warning"),
        ("每分钟多少错误", "1m", "error"),
        ("每小时有多少条警告", "1h", "warning"),
        ("错误趋势", "auto", "error"),
    ],
)
def test_rates(request_text: str, bucket: str, level: str) -> None:
    assert question_of(request_text) == Question("rate", level=level, bucket=bucket)


@pytest.mark.parametrize(
    ("request_text", "entity", "level"),
    [
        ("which IP most", "ip", ""),
        ("which IP sent the most requests?", "ip", ""),
        ("which host has the most errors", "host", "error"),
        ("top 5 endpoints", "path", ""),
        ("what are the busiest services?", "service", ""),
        ("how many users", "user", ""),
        ("哪个IP最多", "ip", ""),
        ("哪台机器错误最多", "host", "error"),
        ("哪个服务报错最频繁", "service", "error"),
    ],
)
def test_who_most(request_text: str, entity: str, level: str) -> None:
    assert question_of(request_text) == Question("most", level=level, entity=entity)


@pytest.mark.parametrize(
    ("request_text", "term", "level"),
    [
        ("how many times did OutOfMemoryError happen", "OutOfMemoryError", ""),
        ("how many times did 'pool exhausted' occur?", "pool exhausted", ""),
        ("how often does the timeout occur", "timeout", ""),
        ("How many failed logins were there from root?", "failed login root", ""),
        ("how many lines contain ETIMEDOUT?", "ETIMEDOUT", ""),
        ("number of errors in the last hour", "", "error"),
        ("how many warnings are there", "", "warning"),
        ("count the errors", "", "error"),
        ("how many requests were there between 10:00 and 10:30", "", ""),
        ("超时出现了几次", "超时", ""),
        ("最近30分钟有多少错误", "", "error"),
        ("一共有多少条日志", "", ""),
    ],
)
def test_counts(request_text: str, term: str, level: str) -> None:
    assert question_of(request_text) == Question("count", term, level, exact="'" in request_text)


@pytest.mark.parametrize(
    ("request_text", "topic"),
    [
        ("when did it start?", "start"),
        ("When did the errors begin", "start"),
        ("since when does checkout fail", "start"),
        ("什么时候开始", "start"),
        ("什么时候开始报错的", "start"),
        ("what changed since 10:00?", "changed"),
        ("compare before and after 10:00", "changed"),
        ("10:00 之后有什么变化", "changed"),
        ("what happened at 10:20", "at"),
        ("what happened between 10:00 and 10:30?", "at"),
        ("10:20 发生了什么", "at"),
        ("did it recover?", "recovered"),
        ("is it still failing?", "recovered"),
        ("has checkout recovered", "recovered"),
        ("恢复了吗", "recovered"),
        ("top errors", "top"),
        ("what are the top 5 errors", "top"),
        ("most common exceptions", "top"),
        ("最常见的错误", "top"),
    ],
)
def test_topics(request_text: str, topic: str) -> None:
    question = question_of(request_text)
    assert question is not None
    assert question.topic == topic
    assert not question.why


@pytest.mark.parametrize(
    "request_text",
    [
        "why do requests fail?",
        "find the cause",
        "Show me the errors in the logs of my-app",
        "requests fail since 10:20, find the cause",
        "What's wrong with the checkout pod?",
        "What caused the payment failures?",
        "each node reports an error",
        "检查 checkout 为什么报错",
        "",
    ],
)
def test_what_is_no_such_question(request_text: str) -> None:
    assert question_of(request_text) is None


def test_a_cause_may_be_asked_for_beside() -> None:
    question = question_of("when did the timeouts start and why?")
    assert question == Question("start", "timeouts", why=True)


@pytest.mark.parametrize(
    ("request_text", "question"),
    [
        ("which ip tried most logins", Question("most", "login", entity="ip")),
        ("which usernames were tried most?", Question("most", entity="user")),
        ("which client got the most disk full errors", Question("most", "disk full", "error", "ip")),
        ("how many errors in payment-service", Question("count", "payment-service", "error")),
        ("how many times did mod_jk go into error state", Question("count", "mod_jk error state")),
        ("root 登录失败了多少次？", Question("count", "root 登录 失败")),
        ("failed logins per hour", Question("rate", "failed login", bucket="1h")),
        ("when did the break-in attempt start", Question("start", "break-in attempt")),
        ("when was the last authentication failure?", Question("last", "authentication failure")),
        ("最后一次超时是什么时候", Question("last", "超时")),
        ("was there a successful login?", Question("exists", "successful login")),
        ("what is 183.62.140.253 doing?", Question("count", "183.62.140.253", exact=True)),
        ("what is the most common warning", Question("top", level="warning")),
        ("are there errors?", None),
    ],
)
def test_what_lines_are_to_hold(request_text: str, question: Question | None) -> None:
    assert question_of(request_text) == question


@pytest.mark.parametrize(
    ("request_text", "is_speed"),
    [("why is checkout slow", True), ("consumer lag grows", True), ("响应很慢", True), ("why 503?", False)],
)
def test_requests_about_speed(request_text: str, is_speed: bool) -> None:
    assert about_speed(request_text) is is_speed


@pytest.mark.parametrize(
    ("request_text", "topic", "also", "why"),
    [
        ("什么时候开始的？恢复了吗？", "start", ("recovered",), False),
        ("Did it recover? When did it start?", "start", ("recovered",), False),
        ("why does it fail? did it recover?", "recovered", (), True),
        ("how many errors are there? did it recover?", "count", ("recovered",), False),
        ("did it recover?", "recovered", (), False),
        ("when did it recover?", "recovered", (), False),
    ],
)
def test_two_questions_in_one_request(
    request_text: str, topic: str, also: tuple[str, ...], why: bool
) -> None:
    found = question_of(request_text)
    assert found is not None
    assert (found.topic, found.also, found.why) == (topic, also, why)


def test_failed_is_what_somebody_did_and_a_level_only_where_the_request_names_one() -> None:
    assert question_of("which IP failed most often?") == Question("most", "failed", entity="ip")
    assert question_of("哪个IP失败最多？") == Question("most", "失败", entity="ip")
    assert question_of("which IP has most errors?") == Question("most", level="error", entity="ip")
    assert question_of("哪个IP错误最多？") == Question("most", level="error", entity="ip")
