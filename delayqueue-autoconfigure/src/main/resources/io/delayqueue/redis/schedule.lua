-- schedule.lua: adds messages that send.lua cannot add, or applies them to the messages that
-- the queue holds under their ids.
--
--   absent    -> SCHEDULED
--   SCHEDULED -> SCHEDULED   kept, or replaced in place
--   LEASED    -> LEASED      kept, or with a successor in `next`
--
-- KEEP is for repeated sends: it adds nothing while the id is held. Only a cancelled lease
-- gets a successor, as nothing else would follow. AFTER_CURRENT keeps a waiting message, and
-- adds the successor of a lease that has none; REPLACE replaces either.
--
-- No mode moves an id to another group: nothing is stored then.
--
-- If the queue is partitioned, an id, or a group, may still be in its former partition: there
-- messages are only applied to held ids, and added to groups that are not empty.
--
-- A send that is repeated after its reply was lost finds its own stamp, and answers as the
-- first time. The due time of a plain message is not stored while it is leased: the answer is
-- now, as it is not later. A lease that ran out is ended first.
--
-- KEYS  see prelude.lua, all
--
-- ARGV[1]  version   of the sender's layout of partitions, '' if all ids are new
-- ARGV[2]  held      1 to leave out ids that are not held, else 0
-- ARGV from [3] on, for each message, with ids that differ:
--   +0  id
--   +1  stamp + envelope   the stamp begins with 's'
--   +2  due                '+delay' or epoch, ms
--   +3  time to live       ms, 0 for none
--   +4  lane               0..9
--   +5  mode               'KEEP', 'AFTER_CURRENT' or 'REPLACE'
--   +6  group              '' for none
--
-- Returns  { refused, outcome, due, outcome, due, ... }, or the error DQSTALE
--          refused: 1 if this user may not publish wake-ups; due: ms
--          outcome: 0 scheduled, 1 kept, 2 replaced, 3 after the current one,
--          5 not held and left out
--          or { 0, 4, i }: the i-th of the messages, from 0, would change the group of its id:
--          replace or succeed a message of another group
--
-- Keeps    I1  an id is in one lane of SCHEDULED, in LEASED or in followers, or in none of them
--          I2  an id in any of them has an entry in messages, and the other way round
--          I3  an id without an entry in messages has none in details, attempts, renewed, next
--          I4  an id in next is in LEASED
--          I5  no key is left when no message and no dead letter is
--          I6  a message of a group is its head, in a lane or in LEASED, or a follower, and
--              there is a head while there is a follower
-- Cost     O(n log N), n messages in the call, N in the queue

local refusal = stale(ARGV[1])
if refusal then return refusal end

local FIRST, FIELDS = 3, 7
local only_held = ARGV[2] == '1'
local now = clock()
local reply = { 0 }
local earliest

local ids = {}
for i = FIRST, #ARGV, FIELDS do ids[#ids + 1] = ARGV[i] end

-- Returns the group of the message under an id, once a lease that ran out is ended; nil if
-- there will be none.
local function group_there(id)
  local deadline = redis.call('ZSCORE', LEASED, id)
  if deadline and tonumber(deadline) <= now and redis.call('HEXISTS', NEXT, id) == 1 then
    local _, _, _, group = successor_of(id)
    return group
  end
  local _, _, _, group = details_of(id)
  return (deadline or waits_until(id)) and group or nil
end

-- Returns whether a send to an id that does not replace would become the successor.
local function follows(id, mode)
  local deadline = redis.call('ZSCORE', LEASED, id)
  if not deadline or tonumber(deadline) <= now then return false end
  local length = redis.call('HSTRLEN', NEXT, id) -- 1 for 'C', which is no successor
  return length == 1 or length == 0 and mode ~= 'KEEP'
end

local grouped
for i = 1, #ids do
  local at = FIRST + (i - 1) * FIELDS
  local mode = ARGV[at + 5]
  if ARGV[at + 6] == '' and grouped == nil then grouped = redis.call('EXISTS', HEADS, NEXT) > 0 end
  if (grouped or ARGV[at + 6] ~= '') and redis.call('HEXISTS', MESSAGES, ids[i]) == 1 then
    local group = (mode == 'REPLACE' or follows(ids[i], mode)) and group_there(ids[i])
    if group and group ~= ARGV[at + 6] then return { 0, 4, i - 1 } end
  end
end

-- Returns whether there is any entry of an id that is not waiting and not leased.
local function is_left(id)
  for _, hash in ipairs({ MESSAGES, DETAILS, ATTEMPTS, RENEWED, NEXT }) do
    if redis.call('HEXISTS', hash, id) == 1 then return true end
  end
  return false
end

local rehearsed = false

-- Applies a message to the one that the queue holds under its id. Returns outcome and due time.
local function admit(id, value, due, expiry, lane, group, mode)
  local leased = is_leased(id, now)
  local length = redis.call('HSTRLEN', MESSAGES, id)
  local due_there, in_lane
  if leased then
    due_there = details_of(id) or math.min(due, math.floor(now / 1000))
  else
    due_there, in_lane = waits_until(id)
  end
  if length == 0 or not due_there then -- content without an entry in a set is never claimed
    if only_held and (group == '' or redis.call('HEXISTS', HEADS, group) == 0) then return 5, due end
    if not rehearsed then rehearse() end
    rehearsed = true
    -- Only if necessary, as a full Redis accepts new messages after a removal.
    if is_left(id) then earliest = earlier(earliest, forget({ id })) end
    earliest = earlier(earliest, put(id, value, due, expiry, lane, group))
    return 0, due
  end
  -- The stored message may be large: it is read only if it may be the same send.
  local there = length == #value and redis.call('HGET', MESSAGES, id) or ''
  if string.sub(there, 2, 8) == string.sub(value, 2, 8) then
    return string.sub(there, 1, 1) == 'r' and 2 or 0, due_there
  end
  if leased then
    local due_next, _, _, _, value_next = successor_of(id)
    if due_next and string.sub(value_next, 1, 8) == string.sub(value, 1, 8) then return 3, due_next end
    if due_next and mode ~= 'REPLACE' then return 1, due_next end
    if mode == 'KEEP' and redis.call('HEXISTS', NEXT, id) == 0 then return 1, due_there end
    redis.call('HSET', NEXT, id, 'S' .. to_details(due, expiry, lane, group) .. '|' .. value)
    return 3, due
  end
  if mode ~= 'REPLACE' then
    if in_lane then earliest = earlier(earliest, due_there) end
    return 1, due_there
  end
  local before = attempts_of(id)
  local _, _, lane_there = details_of(id)
  rehearse_removal()
  redis.call('ZREM', lane_key(lane_there), id)
  earliest = earlier(earliest, forget({ id }))
  earliest = earlier(earliest, put(id, 'r' .. string.sub(value, 2), due, expiry, lane, group))
  if before.token ~= '0' then -- a later lease needs a later token
    set_attempts(id, { failures = 0, lapses = 0, suspect = 0, by = 'l', token = before.token, first = '' })
  end
  return 2, due
end

for i, id in ipairs(ids) do
  local at = FIRST + (i - 1) * FIELDS
  local due = due_time(ARGV[at + 2], now)
  local expiry = ARGV[at + 3] ~= '0' and due + tonumber(ARGV[at + 3]) or 0
  local outcome, due_there = admit(id, ARGV[at + 1], due, expiry, tonumber(ARGV[at + 4]), ARGV[at + 6],
    ARGV[at + 5])
  reply[2 * i], reply[2 * i + 1] = outcome, due_there
end
if earliest then reply[1] = wake(earliest, now) elseif only_held then tidy() end
return reply
