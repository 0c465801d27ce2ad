"""Every number that the routine says passes the checker, in English and Chinese, on logs of every kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.log_analysis.agent import AGENT
from agents.runtime.claims import claims
from agents.runtime.evidence import check

REQUESTS = ("find the cause", "为什么失败？有多少错误？")
#: One of each kind, small enough for a quick run.
LOGS = [
    "holmesgpt/generated/62_fetch_error_logs_with_errors.log.gz",
    "holmesgpt/generated/71_connection_pool_starvation.log.gz",
    "loghub_2k/BGL/BGL_2k.log",
    "loghub_2k/OpenSSH/OpenSSH_2k.log",
    "loghub_2k/Zookeeper/Zookeeper_2k.log",
    "lnav/logfile_vdsm.0",
    "lnav/textfile_broken_gz.txt.gz",
    "synthetic/binary_junk.log",
    "synthetic/mixed_gbk_utf8.log",
    "synthetic/rot_app.log",
]


@pytest.mark.parametrize("log", LOGS)
async def test_the_routine_says_no_number_that_its_tools_did_not_return(desk, data: Path, log: str) -> None:
    claimed = 0
    for request in REQUESTS:
        analysis = await desk.analyse(data / log, request=request)
        assert AGENT.read_line is not None

        async def read(source: str, line: int, ctx=analysis.ctx) -> str | None:
            return await AGENT.read_line(ctx, source, line)

        results = [call.value for call in analysis.calls if call.value is not None]
        texts = [text for call in analysis.calls for text in (call.error or {}).values()]
        _, refused = await check(analysis.outcome, read=read, results=results, texts=texts)
        assert refused == []
        claimed += len(claims(analysis.outcome.answer))
    assert claimed
