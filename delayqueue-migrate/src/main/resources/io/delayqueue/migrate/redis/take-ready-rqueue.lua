-- take-ready-rqueue.lua: takes a batch of messages that are due out of an Rqueue queue, for when no
-- old consumer is left.
--
--   waiting -> taken
--
-- A poller of Rqueue pops from the ready list into the processing set by one script, so a message is
-- popped or taken. One in the processing set belongs to its consumer until its score, the end of its
-- visibility timeout. Periodic ones are taken too, and the caller settles them as unreadable, which
-- keeps them.
--
-- KEYS[1] to [5]  those of prelude.lua
-- KEYS[6]  __rq::queue::{q}     LIST of messages
-- KEYS[7]  __rq::p-queue::{q}   ZSET, message -> end of the visibility timeout, ms
--
-- ARGV[1]  token
-- ARGV[2]  batch    the name of the batch
-- ARGV[3]  limit    1 to 1,000
-- ARGV[4]  now      ms; messages in processing until then have no consumer
--
-- Returns  { { value, value, ... } }   as in `entries`, without due times; or the error MIGRATEOWNER
--
-- Keeps    M1 to M3. A message is added before it is removed, or the other way round in the same
--          call; no command between the two can fail but for a lack of rights.
-- Cost     O(n log N), n messages in the call, N in processing

-- prelude
local refusal = refuse_other_owner()
if refusal then return refusal end
local batch, limit = ARGV[2], tonumber(ARGV[3])
local before = taken_before(batch)
if before then return { before } end

local values = {}
local ready = redis.call('LRANGE', KEYS[6], 0, limit - 1)
redis.call('ZREM', KEYS[7], '')
stay_owner()
for _, member in ipairs(ready) do
  add_entry(batch, values, '', member)
end
redis.call('LTRIM', KEYS[6], #ready, -1)
if #ready < limit then
  local lapsed = redis.call('ZRANGEBYSCORE', KEYS[7], '-inf', ARGV[4], 'LIMIT', 0, limit - #ready)
  for _, member in ipairs(lapsed) do
    add_entry(batch, values, '', member)
    redis.call('ZREM', KEYS[7], member)
  end
end
return { values }
