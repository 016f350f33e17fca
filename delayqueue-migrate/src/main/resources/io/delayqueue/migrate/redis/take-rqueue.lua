-- take-rqueue.lua: takes a batch of scheduled messages out of an Rqueue queue.
--
--   waiting -> taken
--
-- The mover of Rqueue reads the scheduled set, so a message that is no longer there cannot reach an
-- old consumer. Messages whose attempt failed come back to this set, and are taken like others.
-- Periodic ones stay.
--
-- KEYS[1] to [5]  those of prelude.lua
-- KEYS[6]  __rq::d-queue::{q}   ZSET, message -> due time, ms
--
-- ARGV[1]  token
-- ARGV[2]  batch    the name of the batch
-- ARGV[3]  limit    1 to 1,000
-- ARGV[4]  skip     members at the head of the set that were examined before and left
--
-- Returns  { { value, value, ... }, passed }   as in `entries`; the number of periodic members that
--          were passed over; or the error MIGRATEOWNER
--
-- Keeps    M1 to M3
-- Cost     O(n log N), n members in the call, N in the queue

-- prelude
local refusal = refuse_other_owner()
if refusal then return refusal end
local batch, limit, skip = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local before = taken_before(batch)
if before then return { before, 0 } end

local values, passed = {}, 0
local members = redis.call('ZRANGE', KEYS[6], skip, skip + limit - 1, 'WITHSCORES')
redis.call('ZREM', KEYS[6], '')
stay_owner()
for i = 1, #members, 2 do
  if is_periodic(members[i]) then
    passed = passed + 1
  else
    add_entry(batch, values, members[i + 1], members[i])
    redis.call('ZREM', KEYS[6], members[i])
  end
end
return { values, passed }
