-- release.lua: gives messages back without counting an attempt.
--
--   LEASED -> SCHEDULED   due after a delay, or when its attempt was; in its place in its group
--   LEASED -> gone, or the successor SCHEDULED, if a cancel or a send came meanwhile
--
-- A message whose handling has not begun returns to the due time of its attempt, as the claim
-- answered it: so it comes before messages that became due later, and its delay stays visible.
-- A due time in the future becomes now.
--
-- A redelivered message whose handler was not started stays marked as redelivered.
--
-- KEYS  see prelude.lua, all
--
-- ARGV, for each lease:
--   +0  id
--   +1  token
--   +2  due    '+delay', or the due time of the attempt, ms
--
-- Returns  { refused, done, done, ... }   done: 1, also for a repeated call that
--          finds the message as the first one left it; 0 if it is no longer the caller's; 2 as
--          in acknowledge.lua
--
-- Keeps    I1 to I6 (see schedule.lua)
-- Cost     O(n log N), n leases in the call

local now = clock()
local reply = { 0 }
local earliest

local function give_back(id, token, due)
  redis.call('ZREM', LEASED, id)
  if redis.call('HEXISTS', NEXT, id) == 1 then return succeed(id) end
  redis.call('HDEL', RENEWED, id)
  local entry = attempts_of(id)
  if entry.suspect == 2 then entry.suspect = 0 end
  entry.by, entry.token = 'h', token
  set_attempts(id, entry)
  local _, _, lane = details_of(id)
  local own = tonumber(string.match(due, '^%d+$'))
  local latest = due_time(own and '+0' or due, now)
  redis.call('ZADD', lane_key(lane), digits(math.min(own or latest, latest)), id)
  return latest
end

rehearse_removal()
local followed, bytes = redis.call('EXISTS', NEXT) == 1, 0
for i = 1, #ARGV, 3 do
  local id, token = ARGV[i], ARGV[i + 1]
  if followed then bytes = bytes + redis.call('HSTRLEN', NEXT, id) end
  if bytes > BYTES and i > 1 then
    reply[#reply + 1] = 2
  elseif holds(id, token) then
    earliest = earlier(earliest, give_back(id, token, ARGV[i + 2]))
    reply[#reply + 1] = 1
  else
    reply[#reply + 1] = gave_back(id, token) and 1 or 0
  end
end
if earliest then reply[1] = wake(earliest, now) else tidy() end
return reply
