-- reschedule.lua: changes the due time of a message in place.
--
--   SCHEDULED -> SCHEDULED   its time to live counts from the new due time, and so does its
--                            place in its group; the journal records a retry that is moved
--
-- A lease that ran out is ended first.
--
-- KEYS     all of prelude.lua; unused: primary, journal
--
-- ARGV[1]  id
-- ARGV[2]  due  '+delay' or epoch, ms
-- ARGV[3]  version   of the sender's layout of partitions, '' to skip the check
-- then, from a journal:
-- ARGV[4]  deadline  microseconds, after which the call is rejected
-- ARGV[5]  revision  of this request; a message of a later one is not found
-- ARGV[6]  there     ms, the only due time that is changed, as schedule.lua returns it, and to an earlier
--                    one only if the message was never leased, as it may wait for a retry; '' for any
--
-- Returns  { refused, outcome }, or the error DQSTALE or DQLATE
--          outcome: 0 rescheduled, 1 leased and unchanged, 2 not found
--
-- Keeps    I1 to I6 (see schedule.lua)
-- Cost     O(log N)

local id, now = ARGV[1], clock()
local refusal = reject_stale_layout(ARGV[3]) or reject_late(ARGV[4], now)
if refusal then return refusal end
local leased = expire_lease_if_over(id, now)
-- After that, as the successor has another revision than the message that it follows.
if ARGV[5] and tonumber(redis.call('HGET', REVISIONS, id) or 0) > tonumber(ARGV[5]) then return { 0, 2 } end
if leased then return { 0, 1 } end
if redis.call('HEXISTS', MESSAGES, id) == 0 then
  clear_wake_mark()
  return { 0, 2 }
end
local due = due_time(ARGV[2], now)
if ARGV[6] and ARGV[6] ~= '' then
  local there = details_of(id) or waits_until(id)
  if there ~= tonumber(ARGV[6]) or due < there and redis.call('HEXISTS', ATTEMPTS, id) == 1 then return { 0, 2 } end
end
local original, expiry, lane, group = details_of(id)
redis.call('ZREM', LEASED, PROBE) -- see check_removals
if original then
  -- prelude
  check_permissions()
end
if group ~= '' then remove_from_lane(id, lane) end
local earliest = group ~= '' and groups().leave_group(id, original, group) or nil
earliest = min_or_nil(earliest, add_to_lane_or_group(id, due, lane, group))
if original then
  if expiry > 0 then expiry = due + expiry - original end
  redis.call('HSET', DETAILS, id, to_details(due, expiry, lane, group))
end
if ARGV[5] and redis.call('HEXISTS', ATTEMPTS, id) == 1 then
  -- prelude
  record_failure(id)
end
return { earliest and wake_if_earlier(earliest, now) or 0, 0 }
