-- status.lua: counts the entries that were taken, as of one moment.
--
-- KEYS[1] to [5]  those of prelude.lua
-- KEYS[6] to [n]  the keys of the source: lists, sorted sets
--
-- ARGV[1]  ''
--
-- Returns  { pending, unreadable, { name, count, ... }, size, size, ... }   a size for each key of the
--          source
-- Keeps    M1 to M3; reads only
-- Cost     O(k), k keys

-- prelude
local counts = { redis.call('SCARD', PENDING), redis.call('HLEN', UNREADABLE), redis.call('HGETALL', COUNTS) }
for i = 6, #KEYS do
  local kind = redis.call('TYPE', KEYS[i]).ok
  local size = 0
  if kind == 'list' then size = redis.call('LLEN', KEYS[i]) end
  if kind == 'zset' then size = redis.call('ZCARD', KEYS[i]) end
  counts[#counts + 1] = size
end
return counts
