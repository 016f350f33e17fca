-- wanted-state.lua: reads or changes the wanted state of a node, or stores or reads its stacks.
--
-- A change names the state that it replaces, so that no operator overwrites the change of another
-- one unread. A call that is repeated returns the new state, as it was changed before.
--
-- KEYS[3]  seen    ZSET  node -> time of its last report, ms
-- KEYS[6]  wanted  HASH  node -> its wanted state, opaque; removed with the node, by nodes.lua
-- KEYS[7]  stacks  HASH  node -> stack frames of its overdue handlers, opaque; removed with the node
--
-- ARGV[1]  what    'read', 'change', 'put-stacks' or 'stacks'
-- ARGV[2]  age     ms; a node whose last report is older is gone
-- ARGV[3]  node    letters and digits
-- ARGV[4]  content  of 'change' and 'put-stacks': the new one, '' for none
-- ARGV[5]  before  of 'change': the state that it replaces, '' for none
--
-- Returns  { alive, now, content }   alive: 1 or 0; now: ms; content: the state or the stacks after
--          the call, '' for none. A node that is gone is not changed.
--
-- Keeps    I1 to I6, which are about other keys
-- Cost     O(log N), N nodes

local WHAT, NODE, CONTENT = ARGV[1], ARGV[3], ARGV[4]
local now_ms = math.floor(clock() / 1000)
local seen = tonumber(redis.call('ZSCORE', KEYS[3], NODE) or '')
if not seen or seen < now_ms - tonumber(ARGV[2]) then return { 0, to_digits(now_ms), '' } end

local key = (WHAT == 'read' or WHAT == 'change') and KEYS[6] or KEYS[7]
local current = redis.call('HGET', key, NODE) or ''
if WHAT == 'put-stacks' or (WHAT == 'change' and current == ARGV[5]) then
  redis.call('HDEL', key, NODE) -- a removal first: see mark-started.lua
  if CONTENT ~= '' then redis.call('HSET', key, NODE, CONTENT) end
  current = CONTENT
end
return { 1, to_digits(now_ms), current }
