-- inspect-partition.lua: reads the types and sizes of the keys of a partition, for an integrity
-- check; changes nothing.
--
-- KEYS     all of prelude.lua
--
-- ARGV     none
--
-- Returns  { messages, dead_letters, record, mark, left, type, type, ... }
--          messages, dead_letters: how many, 0 where the key holds something else;
--          record: of the partitions, '' for none; mark: the wake mark, '' for none;
--          left: its time to live, ms, -1 for none; type: the reply of TYPE for each of KEYS
--
-- Keeps    all invariants, as it changes nothing
-- Cost     O(1)

local types = {}
for i, key in ipairs(KEYS) do types[i] = redis.call('TYPE', key).ok end
local messages = types[1] == 'hash' and redis.call('HLEN', MESSAGES) or 0
local dead_letters = types[11] == 'hash' and redis.call('HLEN', DEAD_LETTERS) or 0
local record = types[4] == 'string' and redis.call('GET', PARTITIONS) or ''
local mark = types[3] == 'string' and redis.call('GET', WAKE) or ''
return { messages, dead_letters, record, mark, redis.call('PTTL', WAKE), unpack(types) }
