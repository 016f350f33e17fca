-- prelude.lua: functions that scripts share. The loader puts in front of each script those
-- that it uses, as every function costs a script time in each call.
--
-- Functions that only a rare case of a script uses stand at the start of its block, at the
-- line `-- prelude`, and cost nothing where the block is not entered.
--
-- All scripts take the same keys in the same order, so that functions here can share them.
--
-- KEYS[1]  messages   HASH   id -> stamp + envelope; the stamp is 8 characters: 's' or 'r'
--                            (scheduled, or replaced an earlier message), then 7 that
--                            identify the send that stored it
-- KEYS[2]  scheduled  ZSET   id -> due time, ms; the normal lane
-- KEYS[3]  wake       STRING the earliest time, ms, at which workers with free permits plan to
--                            poll; the channel of wake-ups has the same name. Published there:
--                            '+<ms>' a message is due after that time; '!' poll now;
--                            'k<ms>:<load>:<node>' the primary poller polled, and will again
--                            after that time, '' for an empty queue; 'v' there is none
-- KEYS[4]  partitions STRING 'version|counts', the layout of partitions, as PartitionLayout
--                            writes it, then 'p' if it is paused, and until when, ms; a
--                            setting, which outlives messages. Absent: one partition,
--                            version 0
-- KEYS[5]  leased     ZSET   id -> end of its lease, microseconds
-- KEYS[6]  details    HASH   id -> 'due:expiry:lane', original due time and expiry in ms, 0
--                            for no expiry, followed by ':group' if it has a group; only
--                            where there is an expiry, another lane or a group
-- KEYS[7]  attempts   HASH   id -> 'failures:lapses:suspect:by:token:first failure'; only
--                            once it came back from a lease. suspect: 0 no, 1 its last lease
--                            ran out, 2 and its start is recorded. by: 'h' its holder gave
--                            it back, 'l' its lease ran out. token: of its last lease
-- KEYS[8]  renewed    HASH   id -> token; only where that is not the end of the lease: once
--                            it was extended, or where the last token was a later time
-- KEYS[9]  next       HASH   id -> what follows its lease: 'C' nothing, it was cancelled, or
--                            'S' + details + '|' + stamp + envelope, its successor
-- KEYS[10] dead       ZSET   dead letter -> when it was dead-lettered, ms; named id~token
-- KEYS[11] letters    HASH   dead letter -> see bury
-- KEYS[12] to [20]    ZSET   id -> due time, ms; the lanes 0-3 and 5-9
-- KEYS[21] followers  ZSET   group + ' ' + original due time, 15 digits + ':' + id -> 0; the
--                            messages that wait in their group, in the order of their turn
-- KEYS[22] heads      HASH   group -> id of its head, which is in its lane or leased
-- KEYS[23] keeper     STRING 'node load': the primary poller, and how many partitions it polls
--                            first; a setting, which expires when its node is gone

local MESSAGES = KEYS[1]
local SCHEDULED = KEYS[2]
local WAKE = KEYS[3]
local PARTITIONS = KEYS[4]
local LEASED = KEYS[5]
local DETAILS = KEYS[6]
local ATTEMPTS = KEYS[7]
local RENEWED = KEYS[8]
local NEXT = KEYS[9]
local DEAD = KEYS[10]
local LETTERS = KEYS[11]
local FOLLOWERS = KEYS[21]
local HEADS = KEYS[22]
local KEEPER = KEYS[23]
local NORMAL = 4
local PROBE = '\0' -- no id
local WAKE_GRACE = 1000
local BYTES = 1048576 -- of contents, after which a call reads no more of them
local REMOVALS = 100 -- most messages that a claim removes

-- Returns microseconds since the epoch, of this server.
local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

-- Returns digits only: tostring and .. would print 17 digits as 1.79e+15. A number that is
-- itself an argument of redis.call needs none of this.
local function digits(number)
  return string.format('%.0f', number)
end

local function lane_key(lane)
  if lane == NORMAL then return SCHEDULED end
  if lane < NORMAL then return KEYS[12 + lane] end
  return KEYS[11 + lane]
end

-- Returns the lanes in which messages may be, the highest first.
local function lanes_in_use()
  if redis.call('EXISTS', unpack(KEYS, 12, 20)) == 0 then return { SCHEDULED } end
  local lanes = {}
  for lane = 9, 0, -1 do lanes[#lanes + 1] = lane_key(lane) end
  return lanes
end

-- Returns the time, ms, that `spec` names ('+1500' from now, '1790000000000' since the epoch),
-- but not before `now` in microseconds; rounded up, so that nothing is early.
local function due_time(spec, now)
  local now_ms = math.ceil(now / 1000)
  if string.sub(spec, 1, 1) == '+' then return now_ms + tonumber(string.sub(spec, 2)) end
  return math.max(now_ms, tonumber(spec))
end

local function earlier(one, other)
  return one and other and math.min(one, other) or one or other
end

local function to_details(due, expiry, lane, group)
  local details = digits(due) .. ':' .. digits(expiry) .. ':' .. digits(lane)
  return group == '' and details or details .. ':' .. group
end

-- Returns original due time (nil without readable details), expiry (0 none), lane and group
-- ('' none).
local function from_details(details)
  local due, expiry, lane, group = string.match(details or '', '^(%d+):(%d+):(%d):?(.*)$')
  if not due then return nil, 0, NORMAL, '' end
  return tonumber(due), tonumber(expiry), tonumber(lane), group
end

local function details_of(id)
  return from_details(redis.call('HGET', DETAILS, id))
end

local function attempts_of(id)
  local entry = redis.call('HGET', ATTEMPTS, id)
  local failures, lapses, suspect, by, token, first =
    string.match(entry or '', '^(%d+):(%d+):(%d):(%a):(%d+):(.*)$')
  if not failures then return { failures = 0, lapses = 0, suspect = 0, by = '', token = '0', first = '' } end
  return { failures = tonumber(failures), lapses = tonumber(lapses), suspect = tonumber(suspect),
    by = by, token = token, first = first }
end

local function set_attempts(id, entry)
  redis.call('HSET', ATTEMPTS, id, digits(entry.failures) .. ':' .. digits(entry.lapses) .. ':'
    .. digits(entry.suspect) .. ':' .. entry.by .. ':' .. entry.token .. ':' .. entry.first)
end

local function version_of(partitions)
  return tonumber(string.match(partitions or '', '^%d+') or 0)
end

-- Returns when the pause of a queue ends, ms; math.huge for one without an end, nil if there is
-- none.
local function pause_end(partitions)
  local ends = string.match(partitions or '', 'p(%d*)')
  return ends and (tonumber(ends) or math.huge)
end

-- Rejects senders whose layout of partitions is older than the record: their message may be in
-- another partition already. Returns the error to answer with, else nil. `version`: '' to skip
-- the check.
local function stale(version)
  if version == '' then return nil end
  local partitions = redis.call('GET', PARTITIONS)
  if not partitions or version_of(partitions) <= tonumber(version) then return nil end
  return redis.error_reply('DQSTALE the partitions of this queue are ' .. partitions)
end

-- Tries, without effect, the commands that move messages. A missing right, or a key of another
-- type, ends the script here, and not when a message has left one key and cannot enter
-- another. Senders begin with this; others remove something first, for a full Redis.
local function rehearse()
  redis.call('ZADD', LEASED, 'XX', '0', PROBE)
  redis.call('HDEL', RENEWED, PROBE)
  redis.call('HSET', RENEWED, PROBE, '')
  redis.call('HDEL', RENEWED, PROBE)
  redis.call('ZREM', LEASED, PROBE)
  redis.call('ZRANGE', FOLLOWERS, '0', '0')
  redis.call('ZSCORE', DEAD, PROBE)
  redis.call('HGET', ATTEMPTS, PROBE)
  redis.call('HGET', DETAILS, PROBE)
  redis.call('HMGET', MESSAGES, PROBE)
  redis.call('HEXISTS', NEXT, PROBE)
  redis.call('HEXISTS', HEADS, PROBE)
  redis.call('HEXISTS', LETTERS, PROBE)
  for _, lane in ipairs(lanes_in_use()) do redis.call('ZSCORE', lane, PROBE) end
end

-- Like rehearse, for scripts that remove messages from a key.
local function rehearse_removal()
  redis.call('ZREM', LEASED, PROBE)
  rehearse()
end

-- The same for plain messages, which only move from one sorted set to another.
local function rehearse_move()
  redis.call('ZREM', LEASED, PROBE)
  redis.call('ZADD', LEASED, 'XX', '0', PROBE)
end

-- Returns whether `token` is that of the present lease of `id`, even if it ran out.
local function holds(id, token)
  local deadline = redis.call('ZSCORE', LEASED, id)
  return deadline ~= false and token == (redis.call('HGET', RENEWED, id) or deadline)
end

-- Returns whether the holder of `token` gave `id` back, and it was not claimed since: the
-- answer to a call that is repeated after its reply was lost.
local function gave_back(id, token)
  if redis.call('ZSCORE', LEASED, id) then return false end
  local entry = attempts_of(id)
  return entry.by == 'h' and entry.token == token
end

-- Returns functions that only messages of a group need; created on demand, as each function
-- that a script has costs it time in every call.
local function groups()
  -- Returns the member of followers for a message. No group and no id holds a blank.
  local function place(group, due, id)
    return group .. ' ' .. string.format('%015.0f', due) .. ':' .. id
  end

  -- Returns whether one id precedes another, by bytes as in a sorted set; `<` uses the locale.
  local function precedes(one, other)
    for i = 1, math.min(#one, #other) do
      local a, b = string.byte(one, i), string.byte(other, i)
      if a ~= b then return a < b end
    end
    return #one < #other
  end

  -- Returns whether a message replaces the head of its group: if that waits and its turn is
  -- later, or if it is lost. A head that waits for another time than its own was given back,
  -- and stays the head.
  local function gives_way(head, id, due)
    if redis.call('ZSCORE', LEASED, head) then return false end
    local due_head, _, lane = details_of(head)
    local score = redis.call('ZSCORE', lane_key(lane), head)
    if not score then return true end
    if due_head ~= tonumber(score) then return false end
    return due < due_head or due == due_head and precedes(id, head)
  end

  -- Returns whether a message waits behind the head of its group, and adds it to followers.
  -- Otherwise makes it the head, which the caller adds to its lane.
  local function follow(id, due, group)
    local head = redis.call('HGET', HEADS, group)
    if head and not gives_way(head, id, due) then
      redis.call('ZADD', FOLLOWERS, 0, place(group, due, id))
      return true
    end
    if head then
      local due_head, _, lane_head = details_of(head)
      if redis.call('ZREM', lane_key(lane_head), head) == 1 then
        redis.call('ZADD', FOLLOWERS, 0, place(group, due_head, head))
      end
    end
    redis.call('HSET', HEADS, group, id)
    return false
  end

  -- Removes a message that is in no lane and not leased from its group. If it was the head,
  -- the message whose turn is next becomes the head; returns when that one is due.
  local function leave(id, due, group)
    if redis.call('HGET', HEADS, group) ~= id then
      redis.call('ZREM', FOLLOWERS, place(group, due, id))
      return nil
    end
    local first = redis.call('ZRANGE', FOLLOWERS, '[' .. group .. ' ', '(' .. group .. '!', 'BYLEX', 'LIMIT', 0, 1)[1]
    if not first then
      redis.call('HDEL', HEADS, group)
      return nil
    end
    local next_id, next_due = string.sub(first, #group + 18), tonumber(string.sub(first, #group + 2, #group + 16)) or 0
    local _, _, lane = details_of(next_id)
    redis.call('ZREM', FOLLOWERS, first)
    redis.call('HSET', HEADS, group, next_id)
    redis.call('ZADD', lane_key(lane), digits(next_due), next_id)
    return next_due
  end

  return { place = place, precedes = precedes, follow = follow, leave = leave }
end

-- Returns when a waiting message is due, and whether it is in its lane; nil if it is not there.
local function waits_until(id)
  local due, _, lane, group = details_of(id)
  local score = redis.call('ZSCORE', lane_key(lane), id)
  if score then return math.ceil(tonumber(score)), true end
  if group ~= '' and redis.call('ZSCORE', FOLLOWERS, groups().place(group, due, id)) then return due, false end
  return nil, false
end

-- Adds a message to its lane or, if its group has a head that stays, to followers. Returns
-- its due time, nil if it is not its turn.
local function enter(id, due, lane, group)
  if group ~= '' and groups().follow(id, due, group) then return nil end
  redis.call('ZADD', lane_key(lane), digits(due), id)
  return due
end

-- Removes all entries of messages that are no longer in a lane or leased, so that later
-- messages of these ids inherit nothing. Returns the earliest due time of the next messages in
-- their groups, nil if there are none.
local function forget(ids)
  redis.call('HDEL', MESSAGES, unpack(ids))
  if redis.call('EXISTS', DETAILS, ATTEMPTS, RENEWED, NEXT) == 0 then return nil end
  local grouped = redis.call('EXISTS', HEADS) == 1
  local details = grouped and redis.call('HMGET', DETAILS, unpack(ids)) or {}
  redis.call('HDEL', DETAILS, unpack(ids))
  redis.call('HDEL', ATTEMPTS, unpack(ids))
  redis.call('HDEL', RENEWED, unpack(ids))
  redis.call('HDEL', NEXT, unpack(ids))
  local next_due
  for i, id in ipairs(ids) do
    local due, _, _, group = from_details(details[i])
    if group ~= '' then next_due = earlier(next_due, groups().leave(id, due, group)) end
  end
  return next_due
end

-- Removes the wake mark with the last message: an empty queue leaves no key behind.
local function tidy()
  if redis.call('EXISTS', MESSAGES) == 0 then redis.pcall('DEL', WAKE) end
end

-- Adds a message that the queue does not hold to SCHEDULED. `value`: stamp + envelope.
-- Writes the content last: if a permission is missing in between, a claim finds the incomplete
-- message, in another lane once there are details, and the next send does not keep it.
-- Returns the result of enter.
local function put(id, value, due, expiry, lane, group)
  local entered = enter(id, due, lane, group)
  if expiry > 0 or lane ~= NORMAL or group ~= '' then
    redis.call('HSET', DETAILS, id, to_details(due, expiry, lane, group))
  end
  redis.call('HSET', MESSAGES, id, value)
  return entered
end

-- Returns due time, expiry, lane, group, and stamp + envelope of a successor; nil if there is
-- none.
local function successor_of(id)
  local successor = redis.call('HGET', NEXT, id)
  if not successor or successor == 'C' then return nil end
  local details, value = string.match(successor, '^S([^|]*)|(.*)$')
  local due, expiry, lane, group = from_details(details)
  return due, expiry, lane, group, value
end

-- Removes a message that has left LEASED, and adds its successor. Returns the earliest due time
-- of the messages that entered a lane, nil if none did.
local function succeed(id)
  local due, expiry, lane, group, value = successor_of(id)
  local next_due = forget({ id })
  return earlier(next_due, due and put(id, value, due, expiry, lane, group))
end

-- LEASED -> SCHEDULED, or what follows: the lease of `id` ran out at `deadline`. A message with
-- details that never failed keeps its due time, which is not stored for others while they are
-- leased: they are due when their lease was given, which is `lease_time` before the token, if
-- the caller knows how long leases usually are; else at the deadline.
local function lapse(id, deadline, lease_time)
  local token, entry = redis.call('HGET', RENEWED, id) or deadline, attempts_of(id)
  redis.call('ZREM', LEASED, id)
  if redis.call('HEXISTS', NEXT, id) == 1 then
    succeed(id)
    return
  end
  redis.call('HDEL', RENEWED, id)
  if entry.suspect == 2 then entry.lapses = entry.lapses + 1 end
  entry.suspect, entry.by, entry.token = 1, 'l', token
  set_attempts(id, entry)
  local due, _, lane = details_of(id)
  if not due or entry.failures > 0 then
    local given = lease_time and tonumber(string.match(token, '^%d+$') or deadline) - lease_time
    due = math.floor(math.min(given or math.huge, tonumber(deadline)) / 1000)
  end
  redis.call('ZADD', lane_key(lane), digits(due), id)
end

-- Ends the lease of `id` if it has run out by `now`, for callers other than its holder.
-- Returns whether it has a live lease.
local function is_leased(id, now)
  local deadline = redis.call('ZSCORE', LEASED, id)
  if not deadline then return false end
  if tonumber(deadline) > now then return true end
  rehearse_removal()
  lapse(id, deadline)
  return false
end

-- Adds a dead letter for a message that has left its set, and returns its failures. Content:
-- 'died:due:failures:lapses:expiry:lane:length of cause:length of first failure:' + group
-- + cause + first failure + stamp + envelope; where there is a group, '+' and its length follow
-- the lane.
local function bury(id, letter, cause, died, due, failed)
  local entry = attempts_of(id)
  local original, expiry, lane, group = details_of(id)
  if expiry > 0 then expiry = expiry - original end
  local length = group ~= '' and '+' .. digits(#group) or ''
  local failures = entry.failures + failed
  redis.call('HSET', LETTERS, letter, table.concat({ digits(died), digits(due),
    digits(failures), digits(entry.lapses), digits(expiry), digits(lane) .. length, digits(#cause),
    digits(#entry.first), group .. cause .. entry.first .. (redis.call('HGET', MESSAGES, id) or '') }, ':'))
  redis.call('ZADD', DEAD, digits(died), letter)
  return failures
end

-- Sets the wake mark and publishes when a message is due, or `body`. Returns 1 if this user
-- may not publish, else 0; the message is stored in both cases.
local function announce(due, now, body)
  local ahead = math.max(0, due - math.floor(now / 1000))
  redis.pcall('SET', WAKE, digits(due), 'PX', digits(ahead + WAKE_GRACE))
  local reply = redis.pcall('PUBLISH', WAKE, body or '+' .. digits(ahead))
  return type(reply) == 'table' and reply.err and 1 or 0
end

-- Wakes the workers if a message became due before they plan to poll. Returns the result of
-- announce.
local function wake(due, now, body)
  local mark = tonumber(redis.pcall('GET', WAKE))
  if mark and due >= mark then return 0 end
  return announce(due, now, body)
end
