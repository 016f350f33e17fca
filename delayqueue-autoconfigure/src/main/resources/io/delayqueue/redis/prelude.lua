-- prelude.lua: what every script may use. The loader puts it in front of each of them.
--
-- All scripts take the same keys in the same order, so that functions here can share them.
-- The lanes are passed where a message may have a priority other than the normal one.
--
-- KEYS[1]  messages   HASH   id -> stamp + envelope; the stamp is 8 characters: 's' or 'r'
--                            (scheduled, or replaced what was there), then 7 that name the
--                            send that stored it
-- KEYS[2]  scheduled  ZSET   id -> due time, ms; the normal lane
-- KEYS[3]  leased     ZSET   id -> end of its lease, microseconds
-- KEYS[4]  wake       STRING the earliest time, ms, at which workers with room plan to look;
--                            the channel of wake-ups has the same name, and '+<ms>' there
--                            says that a message is due after that time
-- KEYS[5]  details    HASH   id -> 'due:expiry:lane', original due time and expiry in ms, 0
--                            for no expiry; only where there is an expiry or another lane.
--                            What a later version adds behind is kept
-- KEYS[6]  attempts   HASH   id -> 'failures:lapses:suspect:by:token:first failure'; only
--                            once it came back from a lease. suspect: 0 no, 1 its last lease
--                            ran out, 2 and its start is recorded. by: 'h' its holder gave
--                            it back, 'l' its lease ran out. token: of its last lease
-- KEYS[7]  renewed    HASH   id -> token; only where that is not the end of the lease: once
--                            it was extended, or where the last token was a later time
-- KEYS[8]  next       HASH   id -> what follows its lease: 'C' nothing, it was cancelled, or
--                            'S<due>:<expiry>:<lane>|' + stamp + envelope, its successor;
--                            a later version may add to what stands before the bar
-- KEYS[9]  dead       ZSET   letter -> time of death, ms; a letter is named id~token
-- KEYS[10] letters    HASH   letter -> see bury
-- KEYS[11] to [19]    ZSET   id -> due time, ms; the lanes 0-3 and 5-9

local MESSAGES, SCHEDULED, LEASED, WAKE = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local DETAILS, ATTEMPTS, RENEWED, NEXT = KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local DEAD, LETTERS = KEYS[9], KEYS[10]
local NORMAL = 4
local WAKE_GRACE = 1000

-- Microseconds since the epoch, of this server.
local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

-- Digits only: tostring and .. would print 17 digits as 1.79e+15.
local function digits(number)
  return string.format('%.0f', number)
end

local function lane_key(lane)
  if lane == NORMAL then return SCHEDULED end
  if lane < NORMAL then return KEYS[11 + lane] end
  return KEYS[10 + lane]
end

-- The time, ms, that `spec` names ('+1500' from now, '1790000000000' since the epoch), but
-- not before `now` in microseconds; rounded up, so that nothing is early.
local function due_time(spec, now)
  local now_ms = math.ceil(now / 1000)
  if string.sub(spec, 1, 1) == '+' then return now_ms + tonumber(string.sub(spec, 2)) end
  return math.max(now_ms, tonumber(spec))
end

-- Original due time, expiry (0 none) and lane of a message, and what a later version added;
-- nil where it has no details that can be read.
local function details_of(id)
  local details = redis.call('HGET', DETAILS, id)
  local due, expiry, lane, more = string.match(details or '', '^(%d+):(%d+):(%d)(.*)$')
  if not due then return nil, 0, NORMAL, '' end
  return tonumber(due), tonumber(expiry), tonumber(lane), more
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

-- Whether `token` is that of the lease that `id` has now, run out or not.
local function holds(id, token)
  local deadline = redis.call('ZSCORE', LEASED, id)
  return deadline ~= false and token == (redis.call('HGET', RENEWED, id) or deadline)
end

-- Whether the holder of `token` gave `id` back, and nobody has claimed it since: the answer
-- to a call that is repeated after its reply was lost.
local function gave_back(id, token)
  if redis.call('ZSCORE', LEASED, id) then return false end
  local entry = attempts_of(id)
  return entry.by == 'h' and entry.token == token
end

-- Removes all that is known of messages that are in no set any more, so that later messages
-- of these ids inherit nothing.
local function forget(ids)
  redis.call('HDEL', MESSAGES, unpack(ids))
  if redis.call('EXISTS', DETAILS, ATTEMPTS, RENEWED, NEXT) > 0 then
    redis.call('HDEL', DETAILS, unpack(ids))
    redis.call('HDEL', ATTEMPTS, unpack(ids))
    redis.call('HDEL', RENEWED, unpack(ids))
    redis.call('HDEL', NEXT, unpack(ids))
  end
end

-- Removes the wake mark with the last message: an empty queue leaves no key behind.
local function tidy()
  if redis.call('EXISTS', MESSAGES) == 0 then redis.call('DEL', WAKE) end
end

-- Puts a message that the queue does not hold into SCHEDULED. `value`: stamp + envelope.
-- Its content comes last: should a permission be missed on the way, what is half there is
-- found by a claim, and not kept for ever by the next send.
local function put(id, value, due, expiry, lane)
  redis.call('ZADD', lane_key(lane), digits(due), id)
  if expiry > 0 or lane ~= NORMAL then
    redis.call('HSET', DETAILS, id, digits(due) .. ':' .. digits(expiry) .. ':' .. digits(lane))
  end
  redis.call('HSET', MESSAGES, id, value)
end

-- Due time, expiry, lane, and stamp + envelope of a successor; nil if there is none.
local function successor_of(id)
  local follower = redis.call('HGET', NEXT, id)
  if not follower or follower == 'C' then return nil end
  local due, expiry, lane, value = string.match(follower, '^S(%d+):(%d+):(%d)[^|]*|(.*)$')
  return tonumber(due), tonumber(expiry), tonumber(lane), value
end

-- Ends the life of a message that has left LEASED, and begins that of its successor, whose
-- due time it returns; nil if there is none.
local function succeed(id)
  local due, expiry, lane, value = successor_of(id)
  forget({ id })
  if due then put(id, value, due, expiry, lane) end
  return due
end

-- LEASED -> SCHEDULED, or what follows: the lease of `id` ran out at `deadline`. Returns when
-- it is due, nil if it is gone.
local function lapse(id, deadline)
  local token, entry = redis.call('HGET', RENEWED, id) or deadline, attempts_of(id)
  redis.call('ZREM', LEASED, id)
  if redis.call('HEXISTS', NEXT, id) == 1 then return succeed(id) end
  redis.call('HDEL', RENEWED, id)
  if entry.suspect == 2 then entry.lapses = entry.lapses + 1 end
  entry.suspect, entry.by, entry.token = 1, 'l', token
  set_attempts(id, entry)
  local due, _, lane = details_of(id)
  due = due or math.floor(tonumber(deadline) / 1000)
  redis.call('ZADD', lane_key(lane), digits(due), id)
  return due
end

-- Ends the lease of `id` if it has run out by `now`, for those who are not its holder.
-- Returns whether it has a live lease.
local function is_leased(id, now)
  local deadline = redis.call('ZSCORE', LEASED, id)
  if not deadline then return false end
  if tonumber(deadline) > now then return true end
  lapse(id, deadline)
  return false
end

-- Adds a dead letter for a message that has left its set, and returns its failures. The
-- letter is 'died:due:failures:lapses:expiry:lane:length of cause:length of first failure:' + cause
-- + first failure + stamp + envelope.
local function bury(id, letter, cause, died, due, failed)
  local entry = attempts_of(id)
  local original, expiry, lane = details_of(id)
  if expiry > 0 then expiry = expiry - original end
  local failures = entry.failures + failed
  redis.call('HSET', LETTERS, letter, table.concat({ digits(died), digits(due),
    digits(failures), digits(entry.lapses), digits(expiry), digits(lane), digits(#cause),
    digits(#entry.first), cause .. entry.first .. (redis.call('HGET', MESSAGES, id) or '') }, ':'))
  redis.call('ZADD', DEAD, digits(died), letter)
  return failures
end

-- Wakes the workers if a message became due before they plan to look. Returns 1 if this user
-- may not publish, else 0; the message is stored all the same.
local function wake(due, now)
  local mark = redis.call('GET', WAKE)
  if mark and due >= tonumber(mark) then return 0 end
  local ahead = math.max(0, due - math.floor(now / 1000))
  redis.call('SET', WAKE, digits(due), 'PX', digits(ahead + WAKE_GRACE))
  local reply = redis.pcall('PUBLISH', WAKE, '+' .. digits(ahead))
  return type(reply) == 'table' and reply.err and 1 or 0
end
