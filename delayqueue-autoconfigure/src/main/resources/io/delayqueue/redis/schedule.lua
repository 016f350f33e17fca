-- schedule.lua: adds messages that send.lua cannot add, or applies them to the messages that
-- the queue holds under their ids.
--
--   absent    -> SCHEDULED
--   SCHEDULED -> SCHEDULED   kept, or replaced in place
--   LEASED    -> LEASED      kept, or with a successor in `successors`
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
-- A message with a duplicate window is kept out while the window of its id runs, which begins when
-- a message is handled or dead. Such a call takes the key `duplicates`, too.
--
-- A message of a journal is kept out if its revision has ended, or a later one is held. Messages that
-- it makes void are kept out from then on, although the queue has lost them: another node may have
-- read their rows.
--
-- KEYS     all of prelude.lua; unused: primary, journal
--
-- ARGV[1]  version   of the sender's layout of partitions, '' if all ids are new
-- ARGV[2]  held      1 to leave out ids that are not held, else 0
-- ARGV[3]  deadline  microseconds, after which the call is rejected; '' for none
-- ARGV[4]  restored  1 for messages that the journal restores: those that are lost are due when they
--                    were, even if that is past; else 0
-- ARGV[5]  keep      ms, for which void messages are kept out; '' for none
-- ARGV from [6] on, for each message, with ids that differ:
--   +0  id
--   +1  stamp + envelope   the stamp begins with 's', or with 'S' if a journal has the message
--   +2  due                '+delay' or epoch, ms
--   +3  time to live       ms, 0 for none
--   +4  lane               0..9
--   +5  mode               'KEEP', 'AFTER_CURRENT' or 'REPLACE'; or 'KEEP:' and its duplicate window, ms
--   +6  group              '' for none
--   +7  void               revisions of a journal, with blanks between them; '' for none
--   +8  failed             failures of a message of a journal, ':', and when it is due again, ms, ''
--                          for its own due time; '' if it has not failed
--
-- Returns  { refused, outcome, due, outcome, due, ... }, or the error DQSTALE or DQLATE
--          refused: 1 if this user may not publish wake-ups; due: ms
--          outcome: 0 scheduled, 1 kept, 2 replaced, 3 after the current one,
--          5 not held and left out, 6 the queue holds this revision of a journal, with its own due time,
--          not that of a retry, if that is stored; 7 kept out by the duplicate window of its id
--          or { 0, 4, i }: the i-th of the messages, from 0, would change the group of its id:
--          it would replace or follow a message of another group; or { 0, 8, i }: too many windows
--          of this queue have begun to store it
--
-- Keeps    I1  an id is in one lane of SCHEDULED, in LEASED or in `waiting`, or in none of them
--          I2  an id in any of them has an entry in messages, and the other way round
--          I3  an id without an entry in messages has none in details, attempts, tokens, successors,
--              revisions
--          I4  an id in successors is in LEASED
--          I5  no key is left when no message and no dead letter is, except settings, and
--              `changes` until the journal has no rows of what it names
--          I6  a message of a group is its head, in a lane or in LEASED, or waits in its group,
--              which then has a head
-- Cost     O(n log N), n messages in the call, N in the queue

local now = clock()
local refusal = reject_stale_layout(ARGV[1]) or reject_late(ARGV[3], now)
if refusal then return refusal end

local FIRST, FIELDS = 6, 9
local only_held = ARGV[2] == '1'
local reply = { 0 }
local earliest

local ids = {}
for i = FIRST, #ARGV, FIELDS do ids[#ids + 1] = ARGV[i] end

-- Returns the group of the message under an id, once a lease that ran out is ended; nil if
-- there will be none.
local function existing_group(id)
  local deadline = redis.call('ZSCORE', LEASED, id)
  if deadline and tonumber(deadline) <= now and redis.call('HEXISTS', SUCCESSORS, id) == 1 then
    local _, _, _, group = successor_of(id)
    return group
  end
  local _, _, _, group = details_of(id)
  return (deadline or waits_until(id)) and group or nil
end

-- Returns whether a send to an id that does not replace would become the successor.
local function becomes_successor(id, mode)
  local deadline = redis.call('ZSCORE', LEASED, id)
  if not deadline or tonumber(deadline) <= now then return false end
  local length = redis.call('HSTRLEN', SUCCESSORS, id) -- 1 for 'C', which is no successor
  return length == 1 or length == 0 and string.sub(mode, 1, 4) ~= 'KEEP'
end

local grouped
for i = 1, #ids do
  local at = FIRST + (i - 1) * FIELDS
  local mode = ARGV[at + 5]
  if DUPLICATES and not only_held and string.find(mode, ':')
      and redis.call('ZCOUNT', DUPLICATES, '(' .. to_digits(math.floor(now / 1000)), '+inf') >= WINDOWS then
    -- prelude
    if redis.call('HEXISTS', MESSAGES, ids[i]) == 0 and not is_duplicate(ids[i], now) then return { 0, 8, i - 1 } end
  end
  if ARGV[at + 6] == '' and grouped == nil then grouped = redis.call('EXISTS', GROUP_HEADS, SUCCESSORS) > 0 end
  if (grouped or ARGV[at + 6] ~= '') and redis.call('HEXISTS', MESSAGES, ids[i]) == 1 then
    local group = (mode == 'REPLACE' or becomes_successor(ids[i], mode)) and existing_group(ids[i])
    if group and group ~= ARGV[at + 6] then return { 0, 4, i - 1 } end
  end
end

-- Returns whether there is any other entry of an id that is not waiting and not leased.
local function has_leftovers(id)
  if redis.call('HEXISTS', DETAILS, id) == 1 then return true end
  if redis.call('EXISTS', ATTEMPTS, TOKENS, SUCCESSORS, REVISIONS) == 0 then return false end
  for _, hash in ipairs({ ATTEMPTS, TOKENS, SUCCESSORS, REVISIONS }) do
    if redis.call('HEXISTS', hash, id) == 1 then return true end
  end
  return false
end

local checked = {}

-- Tries to add to lanes, once; and all that messages of groups need.
local function check_additions(group)
  local needed = group == '' and 'lanes' or 'groups'
  if checked[needed] then return end
  checked[needed] = true
  if group == '' then
    redis.call('ZADD', SCHEDULED, 'XX', '0', PROBE)
    redis.call('ZADD', PRIORITIES, 'XX', '0', PROBE)
  else
    -- prelude
    check_permissions()
  end
end

-- Applies a message to the one that the queue holds under its id. Returns outcome and due time.
local function admit(id, value, due, expiry, lane, group, mode, void, failed, window)
  local leased = expire_lease_if_over(id, now)
  local revision = revision_of(value)
  if revision and (redis.call('ZSCORE', CHANGES, revision .. ' ' .. id)
      or tonumber(redis.call('HGET', REVISIONS, id) or 0) > tonumber(revision)) then return 1, due end
  local length = redis.call('HSTRLEN', MESSAGES, id)
  local due_there, in_lane
  if leased then
    due_there = details_of(id) or math.min(due, math.floor(now / 1000))
  else
    due_there, in_lane = waits_until(id)
  end
  if length == 0 or not due_there then -- content without an entry in a set is never claimed
    if window then
      -- prelude
      if is_duplicate(id, now) then return 7, due end
    end
    if only_held and (group == '' or redis.call('HEXISTS', GROUP_HEADS, group) == 0) then return 5, due end
    check_additions(group)
    -- Only if necessary, as a full Redis accepts new messages after a removal.
    if length > 0 or has_leftovers(id) then
      check_additions('left') -- which may be of a group
      redis.call('HDEL', REVISIONS, id) -- it was lost, and has not ended
      earliest = min_or_nil(earliest, delete_messages({ id }))
    end
    keep_out(id, void, ARGV[5], now)
    local failures, retry = string.match(failed or '', '^(%d+):(%d*)$')
    if failures then
      set_attempts(id, { failures = tonumber(failures), lapses = 0, redelivered = 0, by = 'h', token = '0', first = '' })
    end
    if window then redis.call('HSET', REVISIONS, id, '-' .. window) end
    local turn = store_message(id, value, due, expiry, lane, group)
    if turn and retry and retry ~= '' then
      turn = tonumber(retry)
      add_to_lane(id, lane, turn)
    end
    earliest = min_or_nil(earliest, turn)
    return 0, due
  end
  -- The stored message may be large: it is read only if it may be the same send.
  local there = length == #value and redis.call('HGET', MESSAGES, id) or ''
  if string.sub(there, 2, 8) == string.sub(value, 2, 8) then
    if revision then return 6, details_of(id) or due_there end
    return string.find(there, '^[rR]') and 2 or 0, due_there
  end
  if leased then
    local due_next, _, _, _, value_next = successor_of(id)
    if due_next and string.sub(value_next, 1, 8) == string.sub(value, 1, 8) then
      return revision and 6 or 3, due_next
    end
    if due_next and (mode ~= 'REPLACE' or has_later_successor(id, revision)) then return 1, due_next end
    if mode == 'KEEP' and redis.call('HEXISTS', SUCCESSORS, id) == 0 then return 1, due_there end
    record_successor_end(id)
    redis.call('HSET', SUCCESSORS, id, 'S' .. to_details(due, expiry, lane, group) .. '|' .. value)
    return 3, due
  end
  if mode ~= 'REPLACE' then
    if in_lane then earliest = min_or_nil(earliest, due_there) end
    return 1, due_there
  end
  local before = attempts_of(id)
  local _, _, lane_there = details_of(id)
  check_removals()
  check_permissions()
  keep_out(id, void, ARGV[5], now)
  remove_from_lane(id, lane_there)
  earliest = min_or_nil(earliest, delete_messages({ id }))
  earliest = min_or_nil(earliest, store_message(id, (revision and 'R' or 'r') .. string.sub(value, 2), due, expiry, lane, group))
  if before.token ~= '0' then -- a later lease needs a later token
    set_attempts(id, { failures = 0, lapses = 0, redelivered = 0, by = 'l', token = before.token, first = '' })
  end
  return 2, due
end

for i, id in ipairs(ids) do
  local at = FIRST + (i - 1) * FIELDS
  local past = ARGV[4] == '1' and string.sub(ARGV[at + 2], 1, 1) ~= '+'
  local due = past and tonumber(ARGV[at + 2]) or due_time(ARGV[at + 2], now)
  local expiry = ARGV[at + 3] ~= '0' and due + tonumber(ARGV[at + 3]) or 0
  local mode, window = ARGV[at + 5], nil
  if DUPLICATES and string.find(mode, ':') then mode, window = string.match(mode, '^(%u+):(%d+)$') end
  local outcome, due_there = admit(id, ARGV[at + 1], due, expiry, tonumber(ARGV[at + 4]), ARGV[at + 6], mode,
    ARGV[at + 7], ARGV[at + 8], window)
  reply[2 * i], reply[2 * i + 1] = outcome, due_there
end
if DUPLICATES then
  -- prelude
  trim_windows(now) -- after all else, as a full Redis accepts any command after a removal
end
if earliest then reply[1] = wake_if_earlier(earliest, now) elseif only_held then clear_wake_mark() end
return reply
