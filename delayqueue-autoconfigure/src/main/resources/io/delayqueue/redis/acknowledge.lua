-- acknowledge.lua: ends leases because their messages were handled.
--
--   LEASED -> gone, or the successor SCHEDULED; what is next in the group into its lane
--
-- KEYS  see prelude.lua, all
--
-- ARGV  token, n, then n ids that were leased with it; repeated for each token. A second
--       occurrence of an id is rejected
--
-- Returns  { refused, done, done, ... }, without the rest if all were done
--          done: 1, 0 if the message is no longer the caller's and nothing changed, or 2 if
--          nothing changed as successors of others are large: repeat the call for those
--
-- Keeps    I1 to I6 (see schedule.lua)
-- Cost     O(n log N), n leases in the call

local ids, tokens = {}, {}
local at = 1
while at < #ARGV do
  local first, last = at + 2, at + 1 + ARGV[at + 1]
  for i = first, last do ids[#ids + 1], tokens[#tokens + 1] = ARGV[i], ARGV[at] end
  at = last + 1
end

local deadlines = redis.call('ZMSCORE', LEASED, unpack(ids))
-- Where none of these exists, all leases are plain: never renewed, and without a successor.
local plain = redis.call('EXISTS', RENEWED, NEXT, DETAILS, ATTEMPTS) == 0
local renewed = plain and {} or redis.call('HMGET', RENEWED, unpack(ids))

local reply, done, seen = { 0 }, {}, {}
for i, id in ipairs(ids) do
  local held = deadlines[i] and tokens[i] == (renewed[i] or deadlines[i]) and not seen[id]
  if held then done[#done + 1], seen[id] = id, i end
  reply[i + 1] = held and 1 or 0
end
if #done == 0 then return reply end

local due
if plain then
  redis.call('HDEL', MESSAGES, PROBE)
  redis.call('ZREM', LEASED, unpack(done))
  redis.call('HDEL', MESSAGES, unpack(done))
else
  -- prelude
  rehearse_removal()
  local followed, bytes = redis.call('EXISTS', NEXT) == 1, 0
  for i = 1, followed and #done or 0 do
    bytes = bytes + redis.call('HSTRLEN', NEXT, done[i])
    if bytes > BYTES and i > 1 then reply[seen[done[i]] + 1], done[i] = 2, nil end
  end
  redis.call('ZREM', LEASED, unpack(done))
  if not followed then
    due = forget(done)
  else
    for _, id in ipairs(done) do due = earlier(due, succeed(id)) end
  end
end
if due then
  -- prelude
  reply[1] = wake(due, clock())
else
  tidy()
end
return #done < #ids and reply or { reply[1] }
