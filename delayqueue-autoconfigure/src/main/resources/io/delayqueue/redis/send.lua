-- send.lua: adds plain messages whose ids are not held: those without a lane, a time to live
-- or a group.
--
--   absent -> SCHEDULED
--
-- Most messages are plain and most ids are new, so this path is kept short: it takes few keys
-- and arguments, and leaves everything else to schedule.lua, including a send that is repeated
-- after its reply was lost.
--
-- KEYS     the first four of prelude.lua
--
-- ARGV[1]  version   of the sender's layout of partitions, '' if all ids are new
-- ARGV from [2] on, for each message, with ids that differ:
--   +0  id
--   +1  stamp + envelope   the stamp begins with 's'
-- then, for each message in turn:
--   due                '+delay' or epoch, ms
--
-- Returns  { due, due, ... }, of one message due alone; {} if an id is held and nothing was
--          done; or the error DQSTALE
--          due: ms; then 'refused' if this user may not publish wake-ups
--
-- Keeps    I1 to I6 (see schedule.lua)
-- Cost     O(n log N), n messages in the call, N in the queue

if ARGV[1] ~= '' then
  -- prelude
  local refusal = reject_stale_layout(ARGV[1])
  if refusal then return refusal end
end

local now = clock()
local reply, earliest
if #ARGV == 4 then
  local id, due = ARGV[2], due_time(ARGV[4], now)
  if redis.call('HSETNX', MESSAGES, id, ARGV[3]) == 0 then return {} end
  local added = redis.pcall('ZADD', SCHEDULED, due, id)
  if type(added) == 'table' and added.err then -- no permission to add
    redis.call('HDEL', MESSAGES, id)
    return added
  end
  reply, earliest = due, due
else
  local n = (#ARGV - 1) / 3
  local ids, dues = {}, {}
  local spec, due
  reply, earliest = {}, math.huge
  for i = 1, n do
    local id, spec_here = ARGV[2 * i], ARGV[2 * n + 1 + i]
    if spec_here ~= spec then -- mostly the same for all
      spec = spec_here
      due = due_time(spec, now)
      if due < earliest then earliest = due end
    end
    ids[i], reply[i] = id, due
    dues[2 * i - 1], dues[2 * i] = due, id
  end
  if ARGV[1] == '' then -- new ids are held only if this call is repeated: one command for all
    local held = redis.call('HMGET', MESSAGES, unpack(ids))
    for i = 1, n do
      if held[i] then return {} end
    end
  else -- one by one, as an HMGET would read the held contents, which may be large
    for _, id in ipairs(ids) do
      if redis.call('HEXISTS', MESSAGES, id) == 1 then return {} end
    end
  end
  redis.call('HSET', MESSAGES, unpack(ARGV, 2, 2 * n + 1))
  local added = redis.pcall('ZADD', SCHEDULED, unpack(dues))
  if type(added) == 'table' and added.err then
    redis.call('HDEL', MESSAGES, unpack(ids))
    return added
  end
end

local mark = tonumber(redis.pcall('GET', WAKE))
if not mark or earliest < mark then
  -- prelude
  if publish_wake_up(earliest, now) == 1 then
    if #ARGV == 4 then reply = { reply } end
    reply[#reply + 1] = 'refused'
  end
end
return reply
