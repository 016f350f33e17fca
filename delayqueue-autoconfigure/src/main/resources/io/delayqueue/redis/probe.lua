-- probe.lua: reads the server's properties, and checks that its user may do what scripts do.
--
-- Works on keys of a queue of its own and leaves none behind.
--
-- KEYS  see prelude.lua, all
--
-- Returns  { server, memory, denied, refused, replication, time }
--          server, memory, replication: these sections of INFO, '' if this user may not
--          read them;
--          denied: the first command that is not permitted and why, '' if all are;
--          refused: 1 if this user may not publish wake-ups;
--          time: what TIME answers here, microseconds; 0 if it answers nothing
--
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

for _, key in ipairs(KEYS) do try('DEL', key) end
for _, lane in ipairs({ SCHEDULED, LEASED, DEAD, unpack(KEYS, 12, 21) }) do
  try('ZADD', lane, '1', 'probe')
  try('ZSCORE', lane, 'probe')
  try('ZMSCORE', lane, 'probe')
  try('ZRANGE', lane, '-inf', '1', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
  try('ZCARD', lane)
  try('ZCOUNT', lane, '-inf', '1')
  try('ZREVRANK', lane, 'probe')
  try('ZREVRANGE', lane, 0, 0)
  try('ZREM', lane, 'probe')
  try('ZREMRANGEBYRANK', lane, '0', '0')
end
for _, hash in ipairs({ MESSAGES, DETAILS, ATTEMPTS, RENEWED, NEXT, LETTERS, HEADS }) do
  try('HSET', hash, 'probe', '1')
  try('HSETNX', hash, 'probe', '1')
  try('HGET', hash, 'probe')
  try('HMGET', hash, 'probe')
  try('HEXISTS', hash, 'probe')
  try('HSTRLEN', hash, 'probe')
  try('EXISTS', hash)
  try('HDEL', hash, 'probe')
end
for _, text in ipairs({ WAKE, KEEPER }) do
  try('SET', text, '1', 'PX', '1000')
  try('GET', text)
  try('DEL', text)
end
try('SET', PARTITIONS, '1')
local time = try('TIME')

local failed = denied
local server, memory, replication = try('INFO', 'server'), try('INFO', 'memory'), try('INFO', 'replication')
denied = failed
for _, key in ipairs(KEYS) do redis.pcall('DEL', key) end
local published = redis.pcall('PUBLISH', WAKE, '0')
local micros = (tonumber(time[1]) or 0) * 1000000 + (tonumber(time[2]) or 0)
return { server, memory, denied, type(published) == 'table' and 1 or 0, replication, micros }
