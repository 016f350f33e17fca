-- check-server.lua: reads the server's properties, and checks that its user may run the
-- commands of all scripts.
--
-- Works on keys of a queue of its own and leaves none behind.
--
-- KEYS     all of prelude.lua
--
-- ARGV     none
--
-- Returns  { server, memory, denied, refused, replication, time }
--          server, memory, replication: these sections of INFO, '' if this user may not
--          read them;
--          denied: the first command that is not permitted and why, '' if all are;
--          refused: 1 if this user may not publish wake-ups;
--          time: what TIME answers here, microseconds; 0 if it answers nothing
--
-- Keeps    all invariants, as no queue has these keys
-- Cost     O(1)

local denied = ''

local function try(...)
  local reply = redis.pcall(...)
  if type(reply) == 'table' and reply.err then
    denied = denied == '' and (...) .. ': ' .. reply.err or denied
    return ''
  end
  return reply
end

-- Calls commands on keys. A command is written without its key.
local function try_all(keys, commands)
  for _, key in ipairs(keys) do
    for _, command in ipairs(commands) do
      local words = {}
      for word in string.gmatch(command, '%S+') do words[#words + 1] = word end
      try(words[1], key, unpack(words, 2))
    end
  end
end

try_all(KEYS, { 'DEL' })
try_all({ SCHEDULED, LEASED, DEAD_ORDER, PRIORITIES, WAITING, CHANGES }, { 'ZADD 1 probe', 'ZSCORE probe', 'ZMSCORE probe',
  'ZRANGE -inf 1 BYSCORE LIMIT 0 1 WITHSCORES', 'ZCARD', 'ZCOUNT -inf 1', 'ZREVRANGE 0 0', 'ZREM probe',
  'ZREMRANGEBYRANK 0 0' })
try_all({ MESSAGES, DETAILS, ATTEMPTS, TOKENS, SUCCESSORS, DEAD_LETTERS, GROUP_HEADS, REVISIONS }, { 'HSET probe 1',
  'HSETNX probe 1', 'HGET probe', 'HGETALL', 'HMGET probe', 'HEXISTS probe', 'HSTRLEN probe', 'EXISTS', 'HDEL probe' })
try_all({ WAKE, PRIMARY, PARTITIONS, JOURNAL }, { 'SET 1 PX 1000', 'GET', 'DEL' })
local time = try('TIME')

local failed = denied
local server, memory, replication = try('INFO', 'server'), try('INFO', 'memory'), try('INFO', 'replication')
denied = failed
for _, key in ipairs(KEYS) do redis.pcall('DEL', key) end
local published = redis.pcall('PUBLISH', WAKE, '0')
local micros = (tonumber(time[1]) or 0) * 1000000 + (tonumber(time[2]) or 0)
return { server, memory, denied, type(published) == 'table' and 1 or 0, replication, micros }
