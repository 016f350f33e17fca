-- reschedule.lua: changes the due time of a message in place.
--
--   SCHEDULED -> SCHEDULED   its time to live counts from the new due time, and so does its
--                            place in its group
--
-- A lease that ran out is ended first.
--
-- KEYS  see prelude.lua, all
--
-- ARGV[1]  id
-- ARGV[2]  due  '+delay' or epoch, ms
-- ARGV[3]  version  of the sender's layout of partitions, '' to skip the check
--
-- Returns  { refused, outcome }, or the error DQSTALE
--          outcome: 0 rescheduled, 1 leased and unchanged, 2 not found
--
-- Keeps    I1 to I6 (see schedule.lua)
-- Cost     O(log N)

local id, now, refusal = ARGV[1], clock(), stale(ARGV[3])
if refusal then return refusal end
if is_leased(id, now) then return { 0, 1 } end
if redis.call('HEXISTS', MESSAGES, id) == 0 then
  tidy()
  return { 0, 2 }
end
local due = due_time(ARGV[2], now)
local original, expiry, lane, group = details_of(id)
if original then
  -- prelude
  rehearse_removal()
else
  rehearse_move()
end
redis.call('ZREM', lane_key(lane), id)
local earliest = group ~= '' and groups().leave(id, original, group) or nil
earliest = earlier(earliest, enter(id, due, lane, group))
if original then
  if expiry > 0 then expiry = due + expiry - original end
  redis.call('HSET', DETAILS, id, to_details(due, expiry, lane, group))
end
return { earliest and wake(earliest, now) or 0, 0 }
