-- statistics.lua: counts the messages of a partition; changes nothing.
--
-- Leases that ran out count as due; the next claim ends them. Messages that wait in their
-- group are scheduled and not due.
--
-- KEYS     all of prelude.lua; used: scheduled, partitions, leased, dead-order,
--          scheduled:priorities, waiting
--
-- ARGV     ends of a forecast, at most 100, none for the counts alone: spans from now, ms, or
--          times, ms, with '@' before them
--
-- Returns  { scheduled, due, leased, dead, next_due, waiting, lapsed, pause, version, now,
--            due_within, due_within, ... }
--          next_due: ms, '' if none waits; pause: '' for none, or one that is over, else as in
--          the record; version: of the partitions; now: microseconds; due_within: for each
--          end, how many are due now or until then
--
-- Keeps    all invariants, as it changes nothing
-- Cost     O(n log N), n ends

local now = clock()
local now_ms = math.floor(now / 1000)
local lapsed = redis.call('ZCOUNT', LEASED, '-inf', to_digits(now))
local waiting = redis.call('ZCARD', WAITING)
local scheduled, next_due = lapsed + waiting, nil
local ends, due = { [0] = now_ms }, { [0] = lapsed } -- [0]: now, then each end
for i, argument in ipairs(ARGV) do
  local time = string.match(argument, '^@(%d+)$')
  ends[i], due[i] = time and math.max(now_ms, tonumber(time)) or now_ms + argument, lapsed
end
for _, lane in ipairs(lanes_in_use()) do
  local key, offset, from, to = unpack(lane)
  local waits = redis.call('ZCOUNT', key, from, to)
  if waits > 0 then
    scheduled = scheduled + waits
    for i = 0, #ends do due[i] = due[i] + redis.call('ZCOUNT', key, from, to_digits(offset + ends[i])) end
    local head = redis.call('ZRANGE', key, from, to, 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')[2]
    if head then next_due = math.min(next_due or math.huge, math.ceil(tonumber(head) - offset)) end
  end
end
if lapsed > 0 then
  local first = redis.call('ZRANGE', LEASED, 0, 0, 'WITHSCORES')
  next_due = math.min(next_due or math.huge, math.floor(tonumber(first[2]) / 1000))
end
local partitions, pause = redis.call('GET', PARTITIONS), ''
local ends = pause_end(partitions or '')
if ends and ends > now_ms then pause = ends < 1e15 and 'p' .. to_digits(ends) or 'p' end
return { scheduled, due[0], redis.call('ZCARD', LEASED) - lapsed, redis.call('ZCARD', DEAD_ORDER),
  next_due and to_digits(next_due) or '', waiting, lapsed, pause, version_of(partitions), now,
  unpack(due) }
