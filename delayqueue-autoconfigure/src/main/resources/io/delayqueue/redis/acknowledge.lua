-- acknowledge.lua: ends leases because their messages were handled.
--
--   LEASED -> gone, or the successor SCHEDULED
--
-- KEYS  see prelude.lua, all
--
-- ARGV  id, token, id, token, ...
--
-- Returns  { refused, done, done, ... }
--          done: 1, or 0 if the message is no longer the caller's and nothing changed
--
-- Keeps    I1 to I5 (see schedule.lua)
-- Cost     O(n log N), n leases in the call

local reply, ids = { 0 }, {}
for i = 1, #ARGV, 2 do ids[#ids + 1] = ARGV[i] end
local deadlines = redis.call('ZMSCORE', LEASED, unpack(ids))

local done = {}
for i, id in ipairs(ids) do
  local token = ARGV[i * 2]
  if deadlines[i] and (deadlines[i] == token or redis.call('HGET', RENEWED, id) == token) then
    done[#done + 1] = id
    reply[i + 1] = 1
  else
    reply[i + 1] = 0
  end
end
if #done == 0 then return reply end

redis.call('ZREM', LEASED, unpack(done))
if redis.call('EXISTS', NEXT) == 0 then
  forget(done)
else
  local now = clock()
  for _, id in ipairs(done) do
    local due = succeed(id)
    if due then reply[1] = wake(due, now) end
  end
end
tidy()
return reply
