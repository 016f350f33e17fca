-- nodes.lua: stores the report of a node and returns what operators want of it, removes a node,
-- or lists all.
--
-- KEYS[2]  nodes   HASH  node -> its report
-- KEYS[3]  seen    ZSET  node -> time of its last report, ms; settings of the namespace, in one
--                        slot with the list of queues
-- KEYS[6]  wanted  HASH  node -> its wanted state; see wanted-state.lua
-- KEYS[7]  stacks  HASH  node -> stack frames of its overdue handlers
--
-- ARGV[1]  what    'report', 'remove' or 'list'
-- ARGV[2]  age     ms; a node whose last report is older is gone
-- ARGV[3]  limit   of a list, 1..1000
-- ARGV[4]  node    letters and digits; not of a list
-- ARGV[5]  report  of a report
--
-- Returns  {}; of a report { now, wanted }, now: ms, wanted: '' for none; of a list
--          { node, seen, report, ... }, seen: ms
--
-- Keeps    I1 to I6, which are about other keys
-- Cost     O(limit + log N), N nodes; a report removes 100 that are gone at most, and the
--          entries of its own node if that was gone

local NODES, SEEN = KEYS[2], KEYS[3]
local now_ms = math.floor(clock() / 1000)
local oldest = to_digits(now_ms - tonumber(ARGV[2]))

if ARGV[1] == 'list' then
  local seen = redis.call('ZRANGE', SEEN, oldest, '+inf', 'BYSCORE', 'LIMIT', 0, tonumber(ARGV[3]), 'WITHSCORES')
  if #seen == 0 then return {} end
  local nodes = {}
  for i = 1, #seen, 2 do nodes[#nodes + 1] = seen[i] end
  local reports, reply = redis.call('HMGET', NODES, unpack(nodes)), {}
  for i, node in ipairs(nodes) do
    reply[3 * i - 2], reply[3 * i - 1], reply[3 * i] = node, seen[2 * i], reports[i] or ''
  end
  return reply
end

local gone = redis.call('ZRANGE', SEEN, '-inf', '(' .. oldest, 'BYSCORE', 'LIMIT', 0, 100)
if ARGV[1] == 'remove' then gone[#gone + 1] = ARGV[4] end
if #gone > 0 then
  redis.call('HDEL', NODES, unpack(gone))
  redis.call('HDEL', KEYS[6], unpack(gone))
  redis.call('HDEL', KEYS[7], unpack(gone))
  redis.call('ZREM', SEEN, unpack(gone))
end
if ARGV[1] == 'report' then
  local last = tonumber(redis.call('ZSCORE', SEEN, ARGV[4]) or '')
  if not last or last < tonumber(oldest) then -- left by the limit, or by an earlier version
    redis.call('HDEL', KEYS[6], ARGV[4])
    redis.call('HDEL', KEYS[7], ARGV[4])
  end
  local wanted = redis.call('HGET', KEYS[6], ARGV[4]) or ''
  redis.call('ZREM', SEEN, '') -- a removal first: see mark-started.lua
  redis.call('ZADD', SEEN, to_digits(now_ms), ARGV[4]) -- first, as only nodes in it are ever removed
  redis.call('HSET', NODES, ARGV[4], ARGV[5])
  return { to_digits(now_ms), wanted }
end
return {}
