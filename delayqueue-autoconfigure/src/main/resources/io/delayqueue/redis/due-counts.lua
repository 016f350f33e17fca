-- due-counts.lua: counts messages by due time; changes nothing.
--
-- Leases that ran out count as due, even if their message was cancelled.
--
-- KEYS  see prelude.lua, all
--
-- Returns  { due, minute, hour, day, week, all, waiting }
--          due now, then within that time from now, including the earlier ones; all: in the
--          lanes; waiting: those that wait in their group
--
-- Keeps    all invariants, as it changes nothing
-- Cost     O(log N)

local now = clock()
local now_ms = math.floor(now / 1000)
local lapsed = redis.call('ZCOUNT', LEASED, '-inf', to_digits(now))
local counts = { lapsed, lapsed, lapsed, lapsed, lapsed, lapsed, redis.call('ZCARD', WAITING) }
for _, lane in ipairs(lanes_in_use()) do
  local key, offset, from, to = unpack(lane)
  for i, span in ipairs({ 0, 60000, 3600000, 86400000, 604800000 }) do
    counts[i] = counts[i] + redis.call('ZCOUNT', key, from, to_digits(offset + now_ms + span))
  end
  counts[6] = counts[6] + redis.call('ZCOUNT', key, from, to)
end
return counts
