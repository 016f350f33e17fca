-- retry.lua: gives a message back because its handler failed.
--
--   LEASED -> SCHEDULED   due after `delay`, but not after its expiry; one more failure; in its place in its group
--   LEASED -> gone, or the successor SCHEDULED, if a cancel or a send came meanwhile
--
-- KEYS     all of prelude.lua; unused: partitions, primary, journal
--
-- ARGV[1]  id
-- ARGV[2]  token
-- ARGV[3]  delay    ms
-- ARGV[4]  failure  stored as the last one, and as the first if there is none
--
-- Returns  { refused, done }   done: 1, also for a repeated call that finds
--          the message as the first one left it; 0 if the message is no
--          longer the caller's and nothing changed
--
-- Keeps    I1 to I6 (see schedule.lua)
-- Cost     O(log N)

local id, token = ARGV[1], ARGV[2]
if not holds(id, token) then return { 0, already_returned(id, token) and 1 or 0 } end

local now = clock()
check_removals()
local due
if redis.call('HEXISTS', SUCCESSORS, id) == 1 then
  check_permissions()
  due = finish_and_start_successor(id)
  clear_wake_mark()
else
  local entry = attempts_of(id)
  entry.first = with_failure(entry, ARGV[4], now)
  entry.failures, entry.redelivered, entry.by, entry.token = entry.failures + 1, 0, 'h', token
  local _, expiry, lane = details_of(id)
  due = until_expiry(due_time('+' .. ARGV[3], now), expiry, now)
  return_to_lane(id, entry, lane, due)
  record_failure(id)
end
return { due and wake_if_earlier(due, now) or 0, 1 }
