-- release.lua: gives messages back without counting an attempt.
--
--   LEASED -> SCHEDULED   due after a delay, but not after its expiry, or when its attempt was; in its place in its group
--   LEASED -> gone, or the successor SCHEDULED, if a cancel or a send came meanwhile
--
-- A message whose handling has not begun returns to the due time of its attempt, as the claim
-- answered it: so it comes before messages that became due later, and its delay stays visible.
-- A due time in the future becomes now.
--
-- A redelivered message whose handler was not started stays marked as redelivered.
--
-- KEYS     all of prelude.lua; unused: partitions, primary, journal
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

local function return_message(id, token, due)
  if redis.call('HEXISTS', SUCCESSORS, id) == 1 then return finish_and_start_successor(id) end
  local entry = attempts_of(id)
  if entry.redelivered == 2 then entry.redelivered = 0 end
  entry.by, entry.token = 'h', token
  local _, expiry, lane = details_of(id)
  local own = tonumber(string.match(due, '^%d+$'))
  local latest = until_expiry(due_time(own and '+0' or due, now), expiry, now)
  return_to_lane(id, entry, lane, math.min(own or latest, latest))
  return latest
end

check_removals()
local succeeded, bytes = redis.call('EXISTS', SUCCESSORS) == 1, 0
if succeeded then
  -- prelude
  check_permissions()
end
for i = 1, #ARGV, 3 do
  local id, token = ARGV[i], ARGV[i + 1]
  if succeeded then bytes = bytes + redis.call('HSTRLEN', SUCCESSORS, id) end
  if bytes > BYTES and i > 1 then
    reply[#reply + 1] = 2
  elseif holds(id, token) then
    earliest = min_or_nil(earliest, return_message(id, token, ARGV[i + 2]))
    reply[#reply + 1] = 1
  else
    reply[#reply + 1] = already_returned(id, token) and 1 or 0
  end
end
if earliest then reply[1] = wake_if_earlier(earliest, now) else clear_wake_mark() end
return reply
