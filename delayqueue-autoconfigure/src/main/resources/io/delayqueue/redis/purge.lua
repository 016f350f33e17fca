-- purge.lua: removes dead letters for good.
--
--   DEAD -> gone
--
-- In a call that takes the key `duplicates`, the duplicate windows of their ids end, except those
-- that are known to be of later messages.
--
-- KEYS     all of prelude.lua; used: dead-order, dead-letters, changes, journal
--
-- ARGV[1]  age    ms; removes those of at least this age, the oldest first, 0 for all; ignored
--                 with a dead letter
-- ARGV[2]  limit  1..100
-- ARGV[3]  the only dead letter to remove; absent to remove by age
--
-- Returns  { removed }   how many
--
-- Keeps    I1 to I6 (see schedule.lua)
-- Cost     O(limit * log N), N dead letters

local dead_letters = { ARGV[3] }
if not ARGV[3] then
  -- After a step of the clock back, dead letters may be later than now.
  local before = ARGV[1] == '0' and '+inf' or to_digits(math.floor(clock() / 1000) - tonumber(ARGV[1]))
  dead_letters = redis.call('ZRANGE', DEAD_ORDER, '-inf', before, 'BYSCORE', 'LIMIT', 0, tonumber(ARGV[2]))
end
if #dead_letters == 0 then return { 0 } end
local ids
if DUPLICATES then
  -- prelude
  ids = ids_of_windows(dead_letters)
end
redis.call('ZREM', DEAD_ORDER, PROBE) -- a missing right must not leave half a dead letter
record_removals(dead_letters)
redis.call('HDEL', DEAD_LETTERS, unpack(dead_letters))
if ids and ids[1] then redis.call('ZREM', DUPLICATES, unpack(ids)) end
return { redis.call('ZREM', DEAD_ORDER, unpack(dead_letters)) }
