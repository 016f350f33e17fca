-- restore-dead-letters.lua: stores dead letters of a journal again that the queue has lost.
--
-- KEYS     all of prelude.lua; unused: wake, partitions, primary, journal
--
-- ARGV[1]  deadline  microseconds, after which the call is rejected
-- then for each dead letter its name and its content
--
-- Returns  { restored }, or the error DQLATE   restored: how many the queue had lost
--
-- Keeps    I1 to I6 (see schedule.lua)
-- Cost     O(n log N), n dead letters of the call, N in the queue

local refusal = reject_late(ARGV[1], clock())
if refusal then return refusal end
check_permissions()
local restored = 0
for i = 2, #ARGV, 2 do
  local dead_letter, dead_at = ARGV[i], string.match(ARGV[i + 1], '^(%d+):')
  if dead_at and not redis.call('ZSCORE', CHANGES, 'R0 ' .. dead_letter)
      and redis.call('HSETNX', DEAD_LETTERS, dead_letter, ARGV[i + 1]) == 1 then
    redis.call('ZADD', DEAD_ORDER, dead_at, dead_letter)
    restored = restored + 1
  end
end
return { restored }
