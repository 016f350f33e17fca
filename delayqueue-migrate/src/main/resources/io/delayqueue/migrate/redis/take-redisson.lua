-- take-redisson.lua: takes a batch out of a Redisson RDelayedQueue.
--
--   waiting -> taken
--
-- The transfer script of Redisson reads the timeout set, so an entry that is no longer there cannot
-- reach an old consumer. The list has the same members in the order of their sends, so its head is
-- taken: removing a member from its middle would cost a scan. LRANGE and LTRIM do what LPOP with a
-- count does since Redis 6.2, and the source may be older.
--
-- KEYS[1] to [5]  those of prelude.lua
-- KEYS[6]  redisson_delay_queue:{n}          LIST
-- KEYS[7]  redisson_delay_queue_timeout:{n}  ZSET, member -> due time, ms
--
-- ARGV[1]  token
-- ARGV[2]  batch    the name of the batch
-- ARGV[3]  limit    1 to 1,000
--
-- Returns  { { value, value, ... } }   as in `entries`; the ids are batch-1, batch-2, ...
--          without a due time if a member is in the list only
--          or the error MIGRATEOWNER
--
-- Keeps    M1 to M3. A script that fails half way leaves a member in the timeout set, and so in the
--          source; it is taken from there as soon as the list is empty.
-- Cost     O(n log N), n entries in the call, N in the queue

-- prelude
local refusal = refuse_other_owner()
if refusal then return refusal end
local batch, limit = ARGV[2], tonumber(ARGV[3])
local before = taken_before(batch)
if before then return { before } end

local values = {}
local members = redis.call('LRANGE', KEYS[6], 0, limit - 1)
redis.call('LTRIM', KEYS[6], limit, -1)
stay_owner()
for _, member in ipairs(members) do
  add_entry(batch, values, redis.call('ZSCORE', KEYS[7], member) or '', member)
  redis.call('ZREM', KEYS[7], member)
end
if #members < limit then
  -- The list is empty now: all that is left in the set is not in the list.
  local rest = redis.call('ZRANGE', KEYS[7], 0, limit - #members - 1, 'WITHSCORES')
  for i = 1, #rest, 2 do
    add_entry(batch, values, rest[i + 1], rest[i])
    redis.call('ZREM', KEYS[7], rest[i])
  end
end
return { values }
