-- extend.lua: makes leases last longer.
--
--   LEASED -> LEASED   until `lease_time` from now, if that is later than its end so far
--
-- The token stays the one of the claim, so it is recorded in `tokens` once the deadline
-- differs. A lease that ran out is live again unless another call has ended it.
--
-- KEYS     all of prelude.lua; used: leased, tokens, revisions, changes
--
-- ARGV[1]  lease_time  microseconds
-- then     id, token, id, token, ...
--
-- Returns  { done, done, ... }   1, or 0 if the message is no longer the caller's
--
-- Keeps    I1 to I6 (see schedule.lua)
-- Cost     O(n log N), n leases in the call

local deadline = clock() + tonumber(ARGV[1])
local reply, tokens, deadlines = {}, {}, {}
for i = 2, #ARGV, 2 do
  local id, token = ARGV[i], ARGV[i + 1]
  local held = holds(id, token)
  reply[#reply + 1] = held and 1 or 0
  if held and tonumber(redis.call('ZSCORE', LEASED, id)) < deadline then
    tokens[#tokens + 1], tokens[#tokens + 2] = id, token
    deadlines[#deadlines + 1], deadlines[#deadlines + 2] = to_digits(deadline), id
  end
end
if #tokens > 0 then
  check_removals()
  redis.call('HSET', TOKENS, unpack(tokens))
  redis.call('ZADD', LEASED, unpack(deadlines))
end
return reply
