-- queues.lua: adds a queue to the list of queues, removes one, or lists some.
--
-- KEYS[1]  queues  ZSET  name -> 0, so in the order of names; a setting of the namespace, in
--                        a slot of its own
--
-- ARGV[1]  what    'add', 'remove' or 'list'
-- ARGV[2]  name    of the queue; a list begins after this name, '' for the first
-- ARGV[3]  limit   1..1001, of a list
--
-- Returns  { done }   1 if the queue was added or removed, else 0; or { name, ... }
--
-- Keeps    I1 to I6, which are about other keys
-- Cost     O(limit + log N), N queues

if ARGV[1] == 'add' then
  redis.call('ZREM', KEYS[1], '') -- a removal first: see mark-started.lua
  return { redis.call('ZADD', KEYS[1], 0, ARGV[2]) }
end
if ARGV[1] == 'remove' then return { redis.call('ZREM', KEYS[1], ARGV[2]) } end
local start = ARGV[2] == '' and '-' or '(' .. ARGV[2]
return redis.call('ZRANGE', KEYS[1], start, '+', 'BYLEX', 'LIMIT', 0, ARGV[3])
