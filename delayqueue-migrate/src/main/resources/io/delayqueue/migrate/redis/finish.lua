-- finish.lua: deletes some of the records of a queue.
--
--   sent or unreadable -> gone
--
-- KEYS[1] to [5]  those of prelude.lua
--
-- ARGV[1]  token
-- ARGV[2]  rest     1 to delete all that is left, after the ids
-- ARGV from [3] on  ids
--
-- Returns  1; or the error MIGRATEOWNER, also if entries are pending: another process has taken them
--          since the status was read
-- Keeps    No entry is deleted that was taken and not settled.
-- Cost     O(n), n ids in the call, and with `rest` the number of unreadable entries

-- prelude
local refusal = refuse_other_owner()
if refusal then return refusal end
if redis.call('SCARD', PENDING) > 0 then
  return redis.error_reply('MIGRATEOWNER another process has taken entries of this queue')
end
for i = 3, #ARGV do
  redis.call('HDEL', ENTRIES, ARGV[i])
end
if ARGV[2] == '1' then
  redis.call('DEL', UNREADABLE, PENDING, OWNER, ENTRIES, COUNTS)
else
  stay_owner()
end
return 1
