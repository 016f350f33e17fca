-- acknowledge.lua: ends leases because their messages were handled.
--
--   LEASED -> gone, or the successor SCHEDULED; what is next in the group into its lane
--
-- KEYS  see prelude.lua, all
--
-- ARGV  id, token, id, token, ...   a lease that stands there twice is refused the second time
--
-- Returns  { refused, done, done, ... }
--          done: 1, or 0 if the message is no longer the caller's and nothing changed
--
-- Keeps    I1 to I6 (see schedule.lua)
-- Cost     O(n log N), n leases in the call

local reply, ids = { 0 }, {}
for i = 1, #ARGV, 2 do ids[#ids + 1] = ARGV[i] end
local deadlines = redis.call('ZMSCORE', LEASED, unpack(ids))

local renewed = redis.call('EXISTS', RENEWED) == 1 and redis.call('HMGET', RENEWED, unpack(ids)) or {}

local done, seen = {}, {}
for i, id in ipairs(ids) do
  if deadlines[i] and ARGV[i * 2] == (renewed[i] or deadlines[i]) and not seen[id] then
    done[#done + 1] = id
    seen[id] = true
    reply[i + 1] = 1
  else
    reply[i + 1] = 0
  end
end
if #done == 0 then return reply end

redis.call('ZREM', LEASED, unpack(done))
local due
if redis.call('EXISTS', NEXT) == 0 then
  due = forget(done)
else
  for _, id in ipairs(done) do due = earlier(due, succeed(id)) end
end
if due then reply[1] = wake(due, clock()) else tidy() end
return reply
