"""The counters of budgets in Redis: one script reserves in all scopes or in none; what Redis forgot is seeded anew."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from redis import asyncio as aioredis

from kernel.budgets import Ask, Counts, Scope, Verdict
from kernel.control import redis_errors
from kernel.faults import around

#: A hash nobody touched for this long is forgotten and seeded from SQL when it is needed again.
_LIFE_SECONDS = 2 * 24 * 3600
#: A counter that does not answer in this time is counted in SQL: a model call must not wait for a stopped Redis.
_SECONDS = 2.0

# A scope is a hash: `run` (which start of the server wrote it), `epoch`, `seeded`, totals `1` to `5`, `k<key>` for each
# reservation that is open; while it is being seeded `t<token>` for each seeder and `s<key>` for what was settled.
# The hash of another start of the server is not believed: with AOF everysec a crash forgets the last second.
_HEAD = """
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
local function add(scope, counts, sign)
  for kind = 1, 5 do
    if counts[kind] ~= 0 then redis.call('HINCRBY', scope, kind, string.format('%.0f', sign * counts[kind])) end
  end
end
local function counts_of(text)
  local counts = {}
  for number in string.gmatch(text, '%S+') do counts[#counts + 1] = tonumber(number) end
  return counts
end
local function text_of(counts)
  local parts = {}
  for kind = 1, 5 do parts[kind] = string.format('%.0f', counts[kind]) end
  return table.concat(parts, ' ')
end
"""

# KEYS: scopes. ARGV: key, epoch, life, units, least, 5 fixed, 5 for each unit, then 5 caps for each scope (-1: none).
_RESERVE = (
    _HEAD
    + """
local entry, epoch, units, least = 'k' .. ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[4]), tonumber(ARGV[5])
local fixed, each, mine, tight, refused = {}, {}, {}, 0, nil
for kind = 1, 5 do fixed[kind] = tonumber(ARGV[5 + kind]); each[kind] = tonumber(ARGV[10 + kind]) end
for i, scope in ipairs(KEYS) do
  local known = redis.call('HMGET', scope, 'run', 'seeded', 'epoch', entry)
  if known[1] ~= run or known[2] ~= '1' or tonumber(known[3]) < epoch then return {'unknown', i} end
  mine[i] = known[4] and counts_of(known[4]) or nil
end
for i, scope in ipairs(KEYS) do
  local used = redis.call('HMGET', scope, 1, 2, 3, 4, 5)
  for kind = 1, 5 do
    local cap = tonumber(ARGV[15 + (i - 1) * 5 + kind])
    if not refused and cap >= 0 and (fixed[kind] > 0 or each[kind] > 0) then
      local spent = tonumber(used[kind] or 0) - (mine[i] and mine[i][kind] or 0)
      local room, fits = cap - spent - fixed[kind], units
      if each[kind] > 0 then fits = math.min(units, math.floor(room / each[kind])) end
      if room < 0 or fits < least then refused = {'refused', i, kind, string.format('%.0f', spent)}
      elseif fits < units then units = fits; tight = i end
    end
  end
end
local counts = {}
for kind = 1, 5 do counts[kind] = fixed[kind] + units * each[kind] end
for i, scope in ipairs(KEYS) do
  if mine[i] then add(scope, mine[i], -1); redis.call('HDEL', scope, entry) end
  if not refused then
    add(scope, counts, 1)
    redis.call('HSET', scope, entry, text_of(counts))
    redis.call('EXPIRE', scope, ARGV[3])
  end
end
return refused or {'granted', units, tight}
"""
)

# KEYS: scope. ARGV: token, epoch, life.
_BEGIN = (
    _HEAD
    + """
local known, epoch = redis.call('HMGET', KEYS[1], 'run', 'seeded', 'epoch'), tonumber(ARGV[2])
local current = known[1] == run and tonumber(known[3]) >= epoch
if current and known[2] == '1' then return 0 end
if not current then
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'run', run, 'epoch', ARGV[2])
end
redis.call('HSET', KEYS[1], 't' .. ARGV[1], 1)
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
"""
)

# KEYS: scope. ARGV: token, 5 settled, then a key and its counts as text for each open reservation.
_INSTALL = (
    _HEAD
    + """
local known = redis.call('HMGET', KEYS[1], 'run', 'seeded', 't' .. ARGV[1])
if known[1] ~= run or known[2] == '1' or not known[3] then return 0 end
local totals = {}
for kind = 1, 5 do totals[kind] = tonumber(ARGV[1 + kind]) end
add(KEYS[1], totals, 1)
for at = 7, #ARGV, 2 do
  local settled = redis.call('HGET', KEYS[1], 's' .. ARGV[at])
  add(KEYS[1], counts_of(settled or ARGV[at + 1]), 1)
  if not settled then redis.call('HSET', KEYS[1], 'k' .. ARGV[at], ARGV[at + 1]) end
end
redis.call('HSET', KEYS[1], 'seeded', 1)
return 1
"""
)

# KEYS: scopes. ARGV: key, counts as text.
_SETTLE = (
    _HEAD
    + """
for _, scope in ipairs(KEYS) do
  local known = redis.call('HMGET', scope, 'run', 'seeded', 'k' .. ARGV[1])
  if known[1] == run and known[2] ~= '1' then redis.call('HSET', scope, 's' .. ARGV[1], ARGV[2])
  elseif known[1] == run and known[3] then
    add(scope, counts_of(known[3]), -1)
    add(scope, counts_of(ARGV[2]), 1)
    redis.call('HDEL', scope, 'k' .. ARGV[1])
  end
end
"""
)


class Counters:
    """What is spent in each scope; every method raises Retryable where Redis does not answer at once."""

    def __init__(self, redis: aioredis.Redis) -> None:
        self._reserve = redis.register_script(_RESERVE)
        self._begin = redis.register_script(_BEGIN)
        self._install = redis.register_script(_INSTALL)
        self._settle = redis.register_script(_SETTLE)

    async def reserve(self, key: str, scopes: Sequence[Scope], ask: Ask, *, epoch: int) -> Verdict | Scope:
        """Reserve in all scopes or in none; return the scope that Redis does not know, if there is one.

        A key counts once: reserved again, it takes its own place.
        """
        caps = [-1 if cap is None else cap for scope in scopes for cap in scope.budget.caps]
        fixed, each = ask.fixed.counts, ask.each.counts
        args = [key, epoch, _LIFE_SECONDS, ask.units, ask.least, *fixed, *each, *caps]
        with around("budget.reserve"):
            word, first, *rest = await _answer(self._reserve, [_key(scope) for scope in scopes], args)
        if word == "unknown":
            unknown: Scope = scopes[first - 1]
            return unknown
        if word == "refused":
            return Verdict(refused=(first - 1, rest[0] - 1), spent=int(rest[1]))
        return Verdict(units=first, tight=rest[0] - 1 if rest[0] else None)

    async def begin(self, scope: Scope, *, epoch: int) -> str | None:
        """Announce that a scope is to be seeded, and return the token for it; None where it is known by now.

        Sums must be read after this: whatever Redis forgets from here on takes the token with it.
        """
        token = uuid.uuid4().hex
        begun = await _answer(self._begin, [_key(scope)], [token, epoch, _LIFE_SECONDS])
        return token if begun else None

    async def install(
        self, scope: Scope, token: str, settled: Counts, reserved: Mapping[str, Counts]
    ) -> None:
        """Seed a scope with what SQL says, unless it was seeded or forgotten meanwhile."""
        args: list[Any] = [token, *settled]
        for key, counts in reserved.items():
            args += [key, _text(counts)]
        with around("budget.seed"):
            await _answer(self._install, [_key(scope)], args)

    async def settle(self, key: str, scopes: Sequence[Scope], counts: Counts) -> None:
        """Put what a reservation really cost in its place."""
        with around("budget.settle"):
            await _answer(self._settle, [_key(scope) for scope in scopes], [key, _text(counts)])


def _key(scope: Scope) -> str:
    return f"nightdesk:budget:{scope.kind.value}:{scope.day}:{scope.name}"


def _text(counts: Counts) -> str:
    return " ".join(map(str, counts))


async def _answer(script: Any, keys: list[str], args: list[Any]) -> Any:
    with redis_errors("a reservation"):  # a TimeoutError is an OSError
        async with asyncio.timeout(_SECONDS):
            return await script(keys=keys, args=args)
