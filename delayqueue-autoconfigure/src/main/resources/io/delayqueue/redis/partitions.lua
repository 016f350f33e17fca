-- partitions.lua: reads or changes the record of the queue's partitions and its pause.
--
-- Every partition of a queue has a record; that of the first is authoritative. Messages are
-- not touched: they stay where they are. All calls take the key `duplicates`, too, as the windows
-- outlive the messages and keep their ids out.
--
-- KEYS     all of prelude.lua; used: messages, wake, partitions, dead-letters
--
-- ARGV[1]  expected  the required present record, '' for none, '*' for any earlier version
-- ARGV[2]  record    the new record, '' to read only
-- ARGV[3]  held      the new record if messages, dead letters or duplicate windows are here
--
-- Returns  { record, now }   the record after the call, '' for none; ms, rounded up
--
-- Keeps    all invariants, as it changes no message
-- Cost     O(1)

local now_ms = math.ceil(clock() / 1000)
local recorded = redis.call('GET', PARTITIONS) or ''
local next = redis.call('EXISTS', MESSAGES, DEAD_LETTERS, DUPLICATES) > 0 and ARGV[3] or ARGV[2]
local expected = recorded == ARGV[1]
if ARGV[1] == '*' then expected = version_of(recorded) < version_of(next) end
if next ~= '' and expected then
  redis.pcall('HDEL', MESSAGES, PROBE) -- a removal first, and not of the record: see mark-started.lua
  redis.call('SET', PARTITIONS, next)
  redis.pcall('PUBLISH', WAKE, '!')
  recorded = next
end
return { recorded, now_ms }
