"""Children as real processes: output, time-out, cancel, limits, environment."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shlex
import signal
import sys
import threading
from concurrent.futures import Future
from pathlib import Path

import pytest

from agents.action_execution.action import Limits
from agents.action_execution.children import KEPT_BYTES, ChildResult, run_child
from agents.runtime.processes import GRACE_SECONDS, stat
from agents.runtime.tools import ChildLog
from kernel.clock import monotonic
from kernel.errors import LostLease, Retryable
from kernel.process import Process

pytestmark = pytest.mark.integration

FREE = Limits(cpu_seconds=0, memory_mb=0, open_files=0, file_mb=0)


class _Log(ChildLog):
    """A log in memory: what it is told, and whether the program had left a trace by then."""

    def __init__(
        self, trace: Path, *, fails: Exception | None = None, gate: asyncio.Event | None = None
    ) -> None:
        self.trace, self.fails, self.gate = trace, fails, gate
        self.told: list[tuple[str, int]] = []
        self.early = False

    @property
    def mark(self) -> dict[str, str]:
        return {"NIGHTDESK_CHILD": "r:job.1.1/7"}

    async def started(self, pid: int) -> None:
        self.told.append(("started", pid))
        if self.gate is not None:
            await self.gate.wait()
        while (seen := stat(pid)) is not None and seen.state == "R":
            await asyncio.sleep(0.01)  # until it waits for us
        self.early = self.trace.exists()
        if self.fails is not None:
            raise self.fails

    async def ended(self, exit_code: int) -> None:
        self.told.append(("ended", exit_code))


async def _python(
    tmp_path: Path, program: str, *, seconds: float = 20, limits: Limits = FREE, log: ChildLog | None = None
) -> ChildResult:
    script = tmp_path / "program.py"
    script.write_text(program, encoding="utf-8")
    return await run_child([sys.executable, "-I", str(script)], seconds=seconds, limits=limits, log=log)


async def _gone(pid: int) -> bool:
    """Wait until a process is gone (or a zombie that only its reaper can remove)."""
    for _ in range(1000):
        try:
            stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if stat == "Z":
            return True
        await asyncio.sleep(0.02)
    return False


async def _appears(path: Path) -> str:
    for _ in range(1000):
        if path.exists() and (text := path.read_text()).endswith("\n"):
            return text.strip()
        await asyncio.sleep(0.01)
    raise AssertionError(f"{path} did not appear")


async def test_output_and_exit_code() -> None:
    result = await run_child(["/bin/echo", "a  b", "$(id)", "*"], seconds=10, limits=Limits())
    assert (result.exit_code, result.output, result.truncated) == (0, "a  b $(id) *\n", False)
    assert result.sha256 == hashlib.sha256(b"a  b $(id) *\n").hexdigest()


async def test_long_output_keeps_head_and_tail_on_code_point_borders(tmp_path: Path) -> None:
    text = "日志" * 100_000  # six bytes a pair: neither cut falls on a border by itself
    result = await _python(tmp_path, f"import sys\nsys.stdout.write('x' + '日志' * {len(text) // 2})")
    assert result.truncated
    assert set(result.output_head) == {"x", "日", "志"}
    assert set(result.output_tail) == {"日", "志"}
    assert KEPT_BYTES - 3 <= len(result.output_head.encode()) <= KEPT_BYTES
    assert result.sha256 == hashlib.sha256(f"x{text}".encode()).hexdigest()


async def test_controls_and_broken_bytes_do_not_reach_the_reader(tmp_path: Path) -> None:
    result = await _python(
        tmp_path, "import os\nos.write(1, b'a\\x1b[31mb\\xff\\x00c\\r\\n\\te\\xe3\\x80\\x80f')"
    )
    assert result.output == "a\ufffd[31mb\ufffdc\n\te\u3000f"


async def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    result = await run_child([str(tmp_path / "none")], seconds=10, limits=Limits())
    assert result.exit_code == 126
    assert "cannot start" in result.output


async def test_the_environment_is_clean_and_stdin_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NIGHTDESK_API_TOKEN", "planted-secret")
    result = await _python(
        tmp_path, "import json, os, sys\nprint(json.dumps([sys.stdin.read(), dict(os.environ), os.getcwd()]))"
    )
    stdin, environment, folder = json.loads(result.output)
    assert (stdin, folder) == ("", "/")
    assert set(environment) <= {"PATH", "LANG", "TZ", "HOME", "LC_CTYPE"}


async def test_no_descriptor_is_inherited(tmp_path: Path) -> None:
    with (tmp_path / "secret").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        result = await _python(tmp_path, "import os\nprint(sorted(os.listdir('/proc/self/fd')))")
    assert len(json.loads(result.output.replace("'", '"'))) == 4  # three, and the listing's own


async def test_a_time_out_kills_the_whole_group(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    program = (
        "trap '' TERM\n"  # which the child inherits
        f"/bin/sleep 300 &\necho $! > {shlex.quote(str(pids))}\n"
        "while :; do wait; done\n"
    )
    # a shell: it has its child long before the time is over, also where a Python would not have started
    result = await run_child(["/bin/sh", "-c", program], seconds=1.5, limits=FREE)
    assert result.timed_out
    assert result.exit_code == -signal.SIGKILL
    assert await _gone(int(await _appears(pids)))


async def test_a_cancel_kills_the_whole_group(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    program = (
        "import os, subprocess, pathlib, signal\n"
        "child = subprocess.Popen(['/bin/sleep', '300'])\n"
        f"pathlib.Path({str(pids)!r}).write_text(f'{{os.getpid()}} {{child.pid}}\\n')\n"
        "signal.pause()\n"
    )
    task = asyncio.create_task(_python(tmp_path, program, seconds=60))
    found = [int(pid) for pid in (await _appears(pids)).split()]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [await _gone(pid) for pid in found] == [True, True]


async def test_what_a_child_leaves_running_neither_blocks_nor_dies(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    program = (
        "import subprocess, pathlib\n"
        "child = subprocess.Popen(['/bin/sleep', '300'])\n"  # holds our pipe
        f"pathlib.Path({str(pids)!r}).write_text(f'{{child.pid}}\\n')\n"
    )
    result = await _python(tmp_path, program)
    left = int(await _appears(pids))
    assert (result.exit_code, result.timed_out) == (0, False)
    os.kill(left, signal.SIGKILL)  # raises where it had died
    assert await _gone(left)


async def test_limits_hold(tmp_path: Path) -> None:
    program = (
        "import json, resource as r\n"
        "print(json.dumps([r.getrlimit(k)[1] for k in (r.RLIMIT_CPU, r.RLIMIT_AS, r.RLIMIT_NOFILE, r.RLIMIT_CORE)]))"
    )
    limits = Limits(cpu_seconds=7, memory_mb=512, open_files=64)
    result = await _python(tmp_path, program, limits=limits)
    assert json.loads(result.output) == [7, 512 * 1024 * 1024, 64, 0]
    greedy = await _python(tmp_path, "x = bytearray(900 * 1024 * 1024)", limits=limits)
    assert "MemoryError" in greedy.output


async def test_a_killed_worker_takes_its_child_along(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    (tmp_path / "child.py").write_text(
        f"import os, pathlib, signal\npathlib.Path({str(pids)!r}).write_text(f'{{os.getpid()}}\\n')\nsignal.pause()\n"
    )
    worker = (
        "import asyncio, sys\n"
        "from agents.action_execution.action import Limits\n"
        "from agents.action_execution.children import run_child\n"
        f"asyncio.run(run_child([sys.executable, '-I', {str(tmp_path / 'child.py')!r}], seconds=60, limits=Limits()))\n"
    )
    (tmp_path / "worker.py").write_text(worker)
    process = await asyncio.create_subprocess_exec(sys.executable, str(tmp_path / "worker.py"))
    child = int(await _appears(pids))
    process.kill()
    await process.wait()
    assert await _gone(child)


async def test_many_at_once() -> None:
    results = await asyncio.gather(
        *(run_child(["/bin/echo", str(n)], seconds=20, limits=Limits()) for n in range(20))
    )
    assert [r.output for r in results] == [f"{n}\n" for n in range(20)]


async def test_a_program_starts_after_its_record_and_its_end_is_noted(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    log = _Log(trace)
    program = (
        "import os, pathlib, sys\n"
        f"pathlib.Path({str(trace)!r}).write_text(f'{{os.getpid()}} {{os.environ[\"NIGHTDESK_CHILD\"]}}')\n"
        "sys.exit(3)\n"
    )
    result = await _python(tmp_path, program, log=log)
    pid, mark = trace.read_text().split()
    assert (log.early, log.told) == (False, [("started", int(pid)), ("ended", 3)])
    assert (result.exit_code, mark) == (3, "r:job.1.1/7")


@pytest.mark.parametrize("fails", [Retryable("the database did not answer"), LostLease("not ours")])
async def test_a_program_that_cannot_be_recorded_never_starts(tmp_path: Path, fails: Exception) -> None:
    log = _Log(tmp_path / "trace", fails=fails)
    with pytest.raises(type(fails)) as caught:
        await run_child(["/bin/touch", str(log.trace)], seconds=20, limits=FREE, log=log)
    if isinstance(caught.value, Retryable):
        assert caught.value.untouched  # so that even an unsafe call may be tried again
    ((_, pid),) = log.told
    assert await _gone(pid)
    assert not log.trace.exists()


async def test_a_cancel_before_the_record_ends_the_launcher(tmp_path: Path) -> None:
    log = _Log(tmp_path / "trace", gate=asyncio.Event())
    task = asyncio.create_task(run_child(["/bin/touch", str(log.trace)], seconds=20, limits=FREE, log=log))
    while not log.told:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    ((_, pid),) = log.told
    assert await _gone(pid)
    assert not log.trace.exists()


async def test_no_descriptor_is_left_behind(tmp_path: Path) -> None:
    log = _Log(tmp_path / "trace", fails=LostLease("not ours"))

    async def all_ways() -> None:
        await run_child(["/bin/true"], seconds=20, limits=FREE)
        await run_child([str(tmp_path / "none")], seconds=20, limits=FREE)
        with pytest.raises(LostLease):
            await run_child(["/bin/true"], seconds=20, limits=FREE, log=log)

    await all_ways()
    before = sorted(Path("/proc/self/fd").iterdir())
    for _ in range(5):
        await all_ways()
    assert sorted(Path("/proc/self/fd").iterdir()) == before


async def test_a_daemon_that_left_the_session_outlives_a_normal_end(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    program = (
        "import subprocess, pathlib\n"
        "child = subprocess.Popen(['/bin/sleep', '300'], start_new_session=True)\n"
        f"pathlib.Path({str(pids)!r}).write_text(f'{{child.pid}}\\n')\n"
    )
    result = await _python(tmp_path, program, log=_Log(tmp_path / "trace"))
    left = int(await _appears(pids))
    seen = stat(left)
    os.kill(left, signal.SIGKILL)
    assert result.exit_code == 0
    assert seen is not None
    assert seen.lives


async def test_a_cancel_ends_even_a_deaf_group_within_the_grace(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    program = (
        "import os, subprocess, pathlib, signal\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"  # which the grandchild inherits
        "child = subprocess.Popen(['/bin/sleep', '300'])\n"
        f"pathlib.Path({str(pids)!r}).write_text(f'{{os.getpid()}} {{child.pid}}\\n')\n"
        "while True:\n    signal.pause()\n"
    )
    task = asyncio.create_task(_python(tmp_path, program, seconds=60))
    found = [int(pid) for pid in (await _appears(pids)).split()]
    began = monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [await _gone(pid) for pid in found] == [True, True]
    assert GRACE_SECONDS <= monotonic() - began < GRACE_SECONDS + 20  # of sixty, and of the child's 300


async def test_the_death_signal_hangs_on_the_loop_not_on_the_thread_that_asked(tmp_path: Path) -> None:
    process = Process("test")
    pids, go_on = tmp_path / "pids", tmp_path / "go_on"
    program = (
        "import os, pathlib, time\n"
        f"pathlib.Path({str(pids)!r}).write_text(f'{{os.getpid()}}\\n')\n"
        f"while not pathlib.Path({str(go_on)!r}).exists():\n    time.sleep(0.01)\n"
    )
    spawned: list[Future[ChildResult]] = []
    asking = threading.Thread(target=lambda: spawned.append(process.spawn(_python(tmp_path, program))))
    asking.start()
    asking.join()  # the thread of a Celery task is gone; the program of its call is not
    await _appears(pids)
    go_on.touch()
    assert (await asyncio.wrap_future(spawned[0])).exit_code == 0
    await asyncio.to_thread(process.close)
