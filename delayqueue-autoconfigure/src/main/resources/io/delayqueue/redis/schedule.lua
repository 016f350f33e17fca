-- schedule.lua: adds messages, or applies them to what the queue holds under their ids.
--
--   absent    -> SCHEDULED
--   SCHEDULED -> SCHEDULED   kept, or replaced in place
--   LEASED    -> LEASED      kept in `next` as the successor
--
-- A send that is repeated after its reply was lost finds its own stamp, and answers as the
-- first time; if the message is leased by then, only its due time is another. A lease that ran out is ended first.
--
-- KEYS  see prelude.lua; [1] to [8] suffice if all ids are new and all lanes normal
--
-- ARGV  for each message, with ids that differ:
--   +0  id
--   +1  stamp + envelope   the stamp begins with 's'
--   +2  due                '+delay' or epoch, ms
--   +3  time to live       ms, 0 for ever
--   +4  lane               0..9
--   +5  replace            1, or 0 to keep
--
-- Returns  { refused, outcome, due, outcome, due, ... }
--          refused: 1 if this user may not publish wake-ups; due: ms, as a string
--          outcome: 0 scheduled, 1 kept, 2 replaced, 3 after the current one
--
-- Keeps    I1  an id is in one lane of SCHEDULED or in LEASED, or in neither, never in both
--          I2  an id in either of them has an entry in messages, and the other way round
--          I3  an id without an entry in messages has none in details, attempts, renewed, next
--          I4  an id in next is in LEASED
--          I5  no key is left when no message and no dead letter is
-- Cost     O(n log N), n messages in the call, N in the queue

local FIELDS = 6
local now = clock()
local reply = { 0 }
local earliest

local ids = {}
for i = 1, #ARGV, FIELDS do ids[#ids + 1] = ARGV[i] end
local held = redis.call('HMGET', MESSAGES, unpack(ids))

local function noticed(due)
  if not earliest or due < earliest then earliest = due end
end

-- Applies a message to what the queue holds under its id. Returns outcome and due time.
local function admit(id, value, due, expiry, lane, replace)
  local leased = is_leased(id, now)
  local there = redis.call('HGET', MESSAGES, id)
  local _, _, lane_there = details_of(id)
  local due_there = leased and due or tonumber(redis.call('ZSCORE', lane_key(lane_there), id) or nil)
  if not there or not due_there then -- content that is in no set will never be claimed
    forget({ id })
    put(id, value, due, expiry, lane)
    noticed(due)
    return 0, due
  end
  due_there = math.ceil(due_there)
  if string.sub(there, 2, 8) == string.sub(value, 2, 8) then
    return string.sub(there, 1, 1) == 'r' and 2 or 0, due_there
  end
  if leased then
    local due_next, _, _, value_next = successor_of(id)
    if due_next and string.sub(value_next, 1, 8) == string.sub(value, 1, 8) then return 3, due_next end
    if due_next and not replace then return 1, due_next end
    redis.call('HSET', NEXT, id, 'S' .. digits(due) .. ':' .. digits(expiry) .. ':' .. digits(lane) .. '|' .. value)
    return 3, due
  end
  if not replace then
    noticed(due_there)
    return 1, due_there
  end
  local before = attempts_of(id)
  redis.call('ZREM', lane_key(lane_there), id)
  forget({ id })
  put(id, 'r' .. string.sub(value, 2), due, expiry, lane)
  if before.token ~= '0' then -- a later lease needs a later token
    set_attempts(id, { failures = 0, lapses = 0, suspect = 0, by = 'l', token = before.token, first = '' })
  end
  noticed(due)
  return 2, due
end

local values, dues = {}, {}
for i = 1, #ids do
  local at = (i - 1) * FIELDS
  local value, lane = ARGV[at + 2], tonumber(ARGV[at + 5])
  local due = due_time(ARGV[at + 3], now)
  local expiry = ARGV[at + 4] ~= '0' and due + tonumber(ARGV[at + 4]) or 0
  local outcome = 0
  if not held[i] and expiry == 0 and lane == NORMAL then
    values[#values + 1], values[#values + 2] = ids[i], value
    dues[#dues + 1], dues[#dues + 2] = digits(due), ids[i]
    noticed(due)
  else
    outcome, due = admit(ids[i], value, due, expiry, lane, ARGV[at + 6] == '1')
  end
  reply[#reply + 1], reply[#reply + 2] = outcome, digits(due)
end

if #values > 0 then
  redis.call('ZADD', SCHEDULED, unpack(dues)) -- before the content: see put
  redis.call('HSET', MESSAGES, unpack(values))
end
if earliest then reply[1] = wake(earliest, now) end
return reply
