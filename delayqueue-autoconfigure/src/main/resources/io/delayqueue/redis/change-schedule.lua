-- change-schedule.lua: stores, replaces or removes a schedule, if its state is what the caller has read.
--
-- No message changes its state: occurrences that were sent remain.
--
-- KEYS     all of prelude.lua, those of schedules too; used: wake, schedules, schedule-times,
--          schedule-skips, schedule-declarations, firing-node
--
-- ARGV[1]  name
-- ARGV[2]  generation  of the state that the caller has read, as are the next two; '' for no schedule, or
--                      one whose state is not readable
-- ARGV[3]  next        ms
-- ARGV[4]  last        ms
-- ARGV[5]  state       the new one, as stored; '' to remove the schedule
-- ARGV[6]  new next    ms, 0 for none
-- ARGV[7]  node        fires first from now on; '' to leave that as it is
-- ARGV[8]  reason      of occurrences to count as skipped, '' for none
-- ARGV[9]  first       ms: the nominal time of the first one
-- ARGV[10] to          ms: that of the last one
-- ARGV[11] count       how many
--
-- Returns  { changed, refused }   changed: 1, or 0 if the schedule has another state; refused: 1 if this user
--          may not publish
--
-- Keeps    S1 to S3 (see fire-schedules.lua)
-- Cost     O(log N), N schedules

local name, state = ARGV[1], ARGV[5]
local schedule = schedule_of(name)
if schedule and not is_expected(schedule, ARGV[2], ARGV[3], ARGV[4]) or not schedule and ARGV[2] ~= '' then return { 0, 0 } end

redis.call('HDEL', SCHEDULES, PROBE) -- a removal first: see mark-started.lua
if state == '' then
  redis.call('ZREM', SCHEDULE_TIMES, name)
  redis.call('HDEL', SCHEDULES, name)
  redis.call('HDEL', SCHEDULE_SKIPS, name)
  redis.call('HDEL', DECLARATIONS, name)
  if redis.call('EXISTS', SCHEDULES) == 0 then redis.call('DEL', FIRING_NODE) end
else
  if ARGV[8] ~= '' then record_skip(name, ARGV[8], ARGV[9], ARGV[10], tonumber(ARGV[11]), ARGV[4]) end
  redis.call('HSET', SCHEDULES, name, state)
  redis.call('ZADD', SCHEDULE_TIMES, score_of(ARGV[6]), name)
  if ARGV[7] ~= '' then redis.call('SET', FIRING_NODE, ARGV[7] .. ' 0') end
end
return { 1, publish_schedules() }
