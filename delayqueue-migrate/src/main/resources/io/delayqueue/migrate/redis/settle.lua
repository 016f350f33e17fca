-- settle.lua: records the end of taken entries.
--
--   taken -> sent, dropped or unreadable; unreadable -> taken, sent, dropped or unreadable
--
-- KEYS[1] to [5]  those of prelude.lua
--
-- ARGV[1]  token
-- ARGV from [2] on, for each entry:
--   +0  id
--   +1  outcome   sent, dropped or unreadable; pending to settle an unreadable one later
--   +2  reason    of an unreadable one, else ''
--
-- Returns  the number of entries that were settled by this call; or the error MIGRATEOWNER
-- Keeps    M1 to M3
-- Cost     O(n), n entries in the call

-- prelude
local refusal = refuse_other_owner()
if refusal then return refusal end
local settled = 0
for i = 2, #ARGV, 3 do
  local id, outcome = ARGV[i], ARGV[i + 1]
  local open = redis.call('SREM', PENDING, id) + redis.call('HDEL', UNREADABLE, id)
  if open > 0 and outcome == 'unreadable' then
    redis.call('HSET', UNREADABLE, id, ARGV[i + 2])
  elseif open > 0 and outcome == 'pending' then
    redis.call('SADD', PENDING, id)
  elseif open > 0 then
    redis.call('HINCRBY', COUNTS, outcome, 1)
    if outcome == 'dropped' then redis.call('HDEL', ENTRIES, id) end
    settled = settled + 1
  end
end
stay_owner()
return settled
