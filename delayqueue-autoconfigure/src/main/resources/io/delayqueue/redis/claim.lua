-- claim.lua: leases due messages to one worker.
--
--   LEASED    -> SCHEDULED   leases that ran out, at most 100
--   SCHEDULED -> LEASED      at most `limit` that are due, the highest lane first
--   SCHEDULED -> gone, DEAD  those found expired, by policy; DEAD those without an envelope
--
-- The token of a lease is its deadline, in microseconds. Where a message was leased before
-- for longer, a token later than its last one serves the whole call, noted in `renewed`.
--
-- While the queue is paused nothing leaves its place, leases that ran out included, and the
-- wake mark stays as it is: so senders wake workers about once a second, in vain.
--
-- The wake mark: a keeper that had room looks again at `next_at`, so senders need not wake
-- it for anything later. Who leaves due messages behind has the others look, once a second
-- at most. Who is just full, or not the keeper, promises nothing.
--
-- KEYS  see prelude.lua, all
--
-- ARGV[1]  limit       1..100; bounds how long the server is kept busy
-- ARGV[2]  lease_time  microseconds
-- ARGV[3]  expired     'drop' or 'bury'
-- then, from who would keep the partition:
-- ARGV[4]  bid         'hold': it is the keeper, and said so a moment ago; 'confirm': it will be
--                      if nobody else is; 'share': or if the keeper has two partitions more
-- then, unless it holds it:
-- ARGV[5]  node        its name, letters and digits
-- ARGV[6]  others      how many other partitions it keeps
-- ARGV[7]  term        ms, how long it keeps this one
-- ARGV[8]  grace       ms; if it finds what has been due for longer, the keeper is away
--
-- Returns  { now, next_at, token, expired, refused, version, keeper, n, id, due, id, due, ...,
--            value, value, ... }
--          now: microseconds; next_at: ms, when there may be more, 0 if the queue is empty,
--          or paused without an end;
--          expired: how many were removed; refused: 1 if this user may not publish;
--          version: of the partitions; a busy worker has no other way to learn of it;
--          keeper: 1 if that is the caller; n: how many messages there are, each with
--          due: the score, in ms, which another producer may have given a fraction;
--          value: stamp + envelope
--          and behind it, if any of what was due had more than that,
--          { attempts, ... }, { details, ... }, { letter, failures, cause, ... }
--          attempts, details: as stored, '' for none; then the dead letters that the call
--          added, their failures as a string. A list costs more than what is in it, so
--          there are none where one can do without
--
-- Keeps    I1 to I6 (see schedule.lua)
-- Cost     O(limit * log N), N messages in the queue

local now = clock()
local now_ms = math.floor(now / 1000)
local limit = tonumber(ARGV[1])

local partitions = redis.call('GET', PARTITIONS)
local resumes_at = partitions and pause_end(partitions)
local paused = resumes_at and resumes_at > now_ms

local first = not paused and redis.call('ZRANGE', LEASED, '0', '0', 'WITHSCORES')[2]
local lapsed_at
if first and tonumber(first) <= now then
  -- prelude
  rehearse_removal()
  local lapsed = redis.call('ZRANGE', LEASED, '-inf', now, 'BYSCORE', 'LIMIT', 0, 100, 'WITHSCORES')
  for i = 1, #lapsed, 2 do lapse(lapsed[i], lapsed[i + 1]) end
  lapsed_at = {}
  for i = 1, #lapsed, 2 do lapsed_at[lapsed[i]] = lapsed[i + 1] / 1000 end
  first = redis.call('ZRANGE', LEASED, '0', '0', 'WITHSCORES')[2]
end

-- Where there are neither details nor attempts, all messages are plain: in the normal lane,
-- without expiry, and never leased before.
local lanes, plain = { SCHEDULED }, redis.call('EXISTS', DETAILS, ATTEMPTS) == 0
if not plain then
  -- prelude
  lanes = lanes_in_use()
end
if paused then lanes = {} end

-- Before what is due is taken from its lane: a right that is missing must not cost its place.
local function permitted()
  if not plain then
    -- prelude
    return rehearse_removal()
  end
  rehearse_move()
  redis.call('HMGET', MESSAGES, PROBE)
end

local found = {} -- id, due, id, due and so on
for _, lane in ipairs(lanes) do
  local room = limit - #found / 2
  local due = room > 0 and redis.call('ZCOUNT', lane, '-inf', now_ms) or 0
  if due > 0 then
    if #found == 0 then permitted() end
    local of_lane = redis.call('ZPOPMIN', lane, math.min(room, due))
    if #found == 0 then found = of_lane else for i = 1, #of_lane do found[#found + 1] = of_lane[i] end end
  end
end

local deadline = now + tonumber(ARGV[2])
local token, expired = '', 0
local taken = found
local values, attempts, details, buried
if #found > 0 then
  local ids, leases = {}, {}
  token = digits(deadline)
  for i = 1, #found, 2 do
    ids[(i + 1) / 2] = found[i]
    leases[i], leases[i + 1] = token, found[i]
  end
  values = redis.call('HMGET', MESSAGES, unpack(ids))
  for i = 1, #values do plain = plain and values[i] end
  if not plain then
    -- prelude
    local all_values = values
    local all_attempts = redis.call('HMGET', ATTEMPTS, unpack(ids))
    local all_details = redis.call('HMGET', DETAILS, unpack(ids))
    local ends, latest = token, deadline
    taken, values, attempts, details, buried, leases = {}, {}, {}, {}, {}, {}

    -- SCHEDULED -> gone or DEAD: what is not to be handled. What is next in its group may be in
    -- another lane; it is for the next claim, so that the work of this one is bounded.
    local function remove(id, due, cause, keep)
      if keep then
        local letter, at = id .. '~' .. digits(now), #buried
        local failures = bury(id, letter, cause, now_ms, math.ceil(tonumber(due)), 0)
        buried[at + 1], buried[at + 2], buried[at + 3] = letter, digits(failures), cause
      end
      if forget({ id }) then lanes = lanes_in_use() end
    end

    for i, id in ipairs(ids) do
      local due, expiry = found[2 * i], tonumber(string.match(all_details[i] or '', ':(%d+):') or 0)
      if not all_values[i] then
        remove(id, due, 'missing', true)
      elseif expiry > 0 and expiry <= now_ms then
        remove(id, due, 'expired', ARGV[3] == 'bury')
        expired = expired + 1
      else
        local last = tonumber(string.match(all_attempts[i] or '', ':%a:(%d+):') or 0)
        latest = math.max(latest, last + 1)
        local at = #values + 1
        values[at], attempts[at], details[at] = all_values[i], all_attempts[i] or '', all_details[i] or ''
        taken[2 * at - 1], taken[2 * at] = id, due
        leases[2 * at - 1], leases[2 * at] = ends, id
      end
    end
    if latest ~= deadline then
      token = digits(latest)
      for i = 1, #taken, 2 do redis.call('HSET', RENEWED, taken[i], token) end
    end
  end
  if #leases > 0 then redis.call('ZADD', LEASED, unpack(leases)) end
end

local next_at = paused and resumes_at < math.huge and resumes_at or nil
for _, lane in ipairs(lanes) do
  local due = redis.call('ZRANGE', lane, '0', '0', 'WITHSCORES')[2]
  if due then next_at = math.min(next_at or math.huge, math.ceil(tonumber(due))) end
end
local behind = next_at ~= nil and next_at <= now_ms
if #taken > 0 then first = math.min(first or math.huge, deadline) end
if first then next_at = math.min(next_at or math.huge, math.ceil(first / 1000)) end
-- Another producer may have given any score; 0 stands for an empty queue.
if next_at then next_at = math.min(math.max(next_at, 1), 9007199254740991) end

-- Whether the caller keeps the partition; if it asks, it is written down, and told.
local bid, node = ARGV[4], ARGV[5]
local keeper, told = bid == 'hold', false
if bid == 'confirm' or bid == 'share' then
  local kept = redis.pcall('GET', KEEPER) or ''
  local owner, load = string.match(kept.err and '' or kept, '^(%w+) (%d+)$')
  local oldest = now_ms
  -- One whose lease ran out was in good hands until then, whenever it was due.
  for i = 1, #found, 2 do oldest = math.min(oldest, lapsed_at and lapsed_at[found[i]] or tonumber(found[i + 1])) end
  local late = not behind and now_ms - oldest >= tonumber(ARGV[8])
  local rich = bid == 'share' and owner and tonumber(load) >= ARGV[6] + 2
  keeper = not kept.err and (not owner or owner == node or late or rich) or false
  told = keeper
end

local refused = 0
if paused then
  -- Workers are told when it is over, or know.
elseif behind then
  -- prelude
  refused = wake(now_ms, now, '!')
elseif keeper and next_at and #found < 2 * limit then
  -- A Redis that is full may refuse this, where nothing was removed before it.
  local expiry = math.max(0, next_at - now_ms) + WAKE_GRACE
  local reply = redis.pcall('SET', WAKE, next_at, 'PX', expiry)
  if reply.err then redis.pcall('DEL', WAKE) end
else
  redis.pcall('DEL', WAKE)
end
if told then
  local load = digits(ARGV[6] + 1)
  if paused then redis.pcall('DEL', KEEPER) end -- a removal first: see start.lua
  if redis.pcall('SET', KEEPER, node .. ' ' .. load, 'PX', ARGV[7]).err then
    keeper = false
  else
    local next_in = next_at and digits(math.max(0, next_at - now_ms)) or ''
    redis.pcall('PUBLISH', WAKE, 'k' .. next_in .. ':' .. load .. ':' .. node)
  end
end

local version = version_of(partitions)
local n = #taken / 2
local reply = { now, next_at or 0, token, expired, refused, version, keeper and 1 or 0, n, unpack(taken) }
for i = 1, n do reply[8 + 2 * n + i] = values[i] end
if attempts then
  local at = 8 + 3 * n
  reply[at + 1], reply[at + 2], reply[at + 3] = attempts, details, buried
end
return reply
