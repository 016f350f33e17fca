-- horizon.lua: counts messages by due time; changes nothing.
--
-- Leases that ran out count as due, even if their message was cancelled.
--
-- KEYS  see prelude.lua, all
--
-- Returns  { due, minute, hour, day, week, all, followers }
--          due now, then within that time from now, including the earlier ones; all: in the
--          lanes; followers: those that wait in their group
--
-- Cost     O(log N)

local now = clock()
local now_ms = math.floor(now / 1000)
local lapsed = redis.call('ZCOUNT', LEASED, '-inf', digits(now))
local counts = { lapsed, lapsed, lapsed, lapsed, lapsed, lapsed, redis.call('ZCARD', FOLLOWERS) }
for _, lane in ipairs(lanes_in_use()) do
  for i, span in ipairs({ 0, 60000, 3600000, 86400000, 604800000 }) do
    counts[i] = counts[i] + redis.call('ZCOUNT', lane, '-inf', digits(now_ms + span))
  end
  counts[6] = counts[6] + redis.call('ZCARD', lane)
end
return counts
