-- cancel.lua: removes a message before it is handled.
--
--   SCHEDULED -> gone
--   LEASED    -> LEASED   it will not be retried, and a successor is removed
--
-- A lease that ran out is ended first.
--
-- KEYS  see prelude.lua, all
--
-- ARGV[1]  id
--
-- Returns  { outcome }   outcome: 0 cancelled, 1 leased, 2 not found
--
-- Keeps    I1 to I5 (see schedule.lua)
-- Cost     O(log N)

local id = ARGV[1]
if is_leased(id, clock()) then
  redis.call('HDEL', NEXT, id)
  redis.call('HSET', NEXT, id, 'C')
  return { 1 }
end
if redis.call('HEXISTS', MESSAGES, id) == 0 then
  tidy()
  return { 2 }
end
local _, _, lane = details_of(id)
redis.call('ZREM', lane_key(lane), id)
forget({ id })
tidy()
return { 0 }
