-- survey.lua: looks at the keys of a partition as a whole, for an examination; changes nothing.
--
-- KEYS  see prelude.lua, all
--
-- Returns  { messages, letters, record, mark, left, type, type, ... }
--          messages, letters: how many, 0 where the key holds something else; record: how the
--          queue is spread, '' for none; mark: the wake mark, '' for none, and how long it
--          is left, ms, -1 for ever; type: as TYPE tells it, of each of KEYS
--
-- Cost     O(1)

local types = {}
for i, key in ipairs(KEYS) do types[i] = redis.call('TYPE', key).ok end
local messages = types[1] == 'hash' and redis.call('HLEN', MESSAGES) or 0
local letters = types[11] == 'hash' and redis.call('HLEN', LETTERS) or 0
local record = types[4] == 'string' and redis.call('GET', PARTITIONS) or ''
local mark = types[3] == 'string' and redis.call('GET', WAKE) or ''
return { messages, letters, record, mark, redis.call('PTTL', WAKE), unpack(types) }
