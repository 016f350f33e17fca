-- locate.lua: finds a message and its dead letters by the exact id, in one step of a walk through
-- the dead letters; changes nothing.
--
-- The contents of messages are not read.
--
-- KEYS     all of prelude.lua; used: messages, partitions, leased, successors, dead-order
--
-- ARGV[1]  id
-- ARGV[2]  cursor   of ZSCAN, '0' to begin
-- ARGV[3]  pattern  of the names of its dead letters
-- ARGV[4]  count    about how many dead letters the step examines, 1..1000
--
-- Returns  { state, version, cursor, dead_letter, dead_at, dead_letter, dead_at, ... }
--          state: 'S' waits, 'L' leased, '' not held, or not asked for as this is a later step;
--          a lease that ran out counts as ended, which leaves nothing of a cancelled message;
--          version: of the partitions; cursor: '0' at the end; dead_at: ms
--
-- Keeps    all invariants, as it changes nothing
-- Cost     O(count)

local state = ''
if ARGV[2] == '0' and redis.call('HEXISTS', MESSAGES, ARGV[1]) == 1 then
  local ends = redis.call('ZSCORE', LEASED, ARGV[1])
  local live = ends and tonumber(ends) > clock()
  -- The entry of a cancelled message is 'C'; others, with a successor, are longer.
  local gone = ends and not live and redis.call('HSTRLEN', SUCCESSORS, ARGV[1]) == 1
  state = live and 'L' or gone and '' or 'S'
end
local page = redis.call('ZSCAN', DEAD_ORDER, ARGV[2], 'MATCH', ARGV[3], 'COUNT', ARGV[4])
return { state, version_of(redis.call('GET', PARTITIONS)), page[1], unpack(page[2]) }
