-- claim.lua: leases due messages to one worker.
--
--   LEASED    -> SCHEDULED   leases that ran out, at most 100
--   SCHEDULED -> LEASED      at most `limit` that are due, the highest lane first
--   SCHEDULED -> gone, DEAD  those found expired, by policy; DEAD those without an envelope
--
-- The token of a lease is its deadline, in microseconds. Where a message was leased before
-- for longer, a token later than its last one serves the whole call, noted in `renewed`.
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
-- ARGV[4]  node        its name, letters and digits
-- ARGV[5]  bid         'hold': it is the keeper, and said so a moment ago; 'confirm': it will be
--                      if nobody else is; 'share': or if the keeper has two partitions more
-- ARGV[6]  others      how many other partitions it keeps
-- ARGV[7]  term        ms, how long it keeps this one
-- ARGV[8]  grace       ms; if it finds what has been due for longer, the keeper is away
--
-- Returns  { now, next_at, token, expired, refused, { letter, failures, cause, ... }, version,
--            keeper, id, due, attempts, details, value, ... }
--          now: microseconds; next_at: ms, when there may be more, '' if the queue is empty;
--          expired: how many were removed; refused: 1 if this user may not publish;
--          the inner list: dead letters that the call added, its failures as a string;
--          version: of the partitions; a busy worker has no other way to learn of it;
--          keeper: 1 if that is the caller;
--          attempts and details: as stored, '' for none; value: stamp + envelope
--
-- Keeps    I1 to I6 (see schedule.lua)
-- Cost     O(limit * log N), N messages in the queue

local now = clock()
local now_ms = math.floor(now / 1000)
local limit = tonumber(ARGV[1])

local lapsed = redis.call('ZRANGE', LEASED, '-inf', digits(now), 'BYSCORE', 'LIMIT', 0, 100, 'WITHSCORES')
for i = 1, #lapsed, 2 do lapse(lapsed[i], lapsed[i + 1]) end
local lapsed_at = {}
for i = 1, #lapsed, 2 do lapsed_at[lapsed[i]] = lapsed[i + 1] / 1000 end

local function lanes_in_use()
  if redis.call('EXISTS', unpack(KEYS, 12, 20)) == 0 then return { SCHEDULED } end
  local all = {}
  for lane = 9, 0, -1 do all[#all + 1] = lane_key(lane) end
  return all
end

local lanes = lanes_in_use()

local ids, dues = {}, {}
for _, lane in ipairs(lanes) do
  if #ids < limit then
    local found = redis.call('ZRANGE', lane, '-inf', digits(now_ms), 'BYSCORE', 'LIMIT', 0, limit - #ids, 'WITHSCORES')
    local taken = {}
    for i = 1, #found, 2 do
      ids[#ids + 1], dues[#dues + 1], taken[#taken + 1] = found[i], found[i + 1], found[i]
    end
    if #taken > 0 then redis.call('ZREM', lane, unpack(taken)) end
  end
end

local expired, deadline = 0, now + tonumber(ARGV[2])
local token = deadline
local buried = {}
local reply = { digits(now), '', '', 0, 0, buried, 0, 0 }

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

if #ids > 0 then
  local values = redis.call('HMGET', MESSAGES, unpack(ids))
  local attempts, details = {}, {}
  if redis.call('EXISTS', ATTEMPTS, DETAILS) > 0 then
    attempts = redis.call('HMGET', ATTEMPTS, unpack(ids))
    details = redis.call('HMGET', DETAILS, unpack(ids))
  end
  local taken = {}
  for i, id in ipairs(ids) do
    local expiry = details[i] and tonumber(string.match(details[i], ':(%d+):')) or 0
    if not values[i] then
      remove(id, dues[i], 'missing', true)
    elseif expiry > 0 and expiry <= now_ms then
      remove(id, dues[i], 'expired', ARGV[3] == 'bury')
      expired = expired + 1
    else
      if attempts[i] then token = math.max(token, tonumber(string.match(attempts[i], ':%a:(%d+):') or 0) + 1) end
      taken[#taken + 1] = id
      local at = #reply
      reply[at + 1], reply[at + 2], reply[at + 3] = id, digits(math.ceil(tonumber(dues[i]))), attempts[i] or ''
      reply[at + 4], reply[at + 5] = details[i] or '', values[i]
    end
  end
  local leases = {}
  for _, id in ipairs(taken) do
    leases[#leases + 1], leases[#leases + 2] = digits(deadline), id
    if token ~= deadline then redis.call('HSET', RENEWED, id, digits(token)) end
  end
  if #leases > 0 then redis.call('ZADD', LEASED, unpack(leases)) end
end

local next_at
for _, lane in ipairs(lanes) do
  local head = redis.call('ZRANGE', lane, 0, 0, 'WITHSCORES')
  if head[2] then next_at = math.min(next_at or math.huge, math.ceil(tonumber(head[2]))) end
end
local behind = next_at ~= nil and next_at <= now_ms
local first = redis.call('ZRANGE', LEASED, 0, 0, 'WITHSCORES')
if first[2] then next_at = math.min(next_at or math.huge, math.ceil(tonumber(first[2]) / 1000)) end

-- Whether the caller keeps the partition; if it asks, it is written down, and told.
local keeper, node, bid = ARGV[5] == 'hold', ARGV[4], ARGV[5]
local told
if bid == 'confirm' or bid == 'share' then
  local owner, load = string.match(redis.call('GET', KEEPER) or '', '^(%w+) (%d+)$')
  local oldest = now_ms
  -- One whose lease ran out was in good hands until then, whenever it was due.
  for i, id in ipairs(ids) do oldest = math.min(oldest, lapsed_at[id] or tonumber(dues[i])) end
  local late = not behind and now_ms - oldest >= tonumber(ARGV[8])
  local rich = bid == 'share' and owner and tonumber(load) >= ARGV[6] + 2
  keeper = not owner or owner == node or late or rich or false
  told = keeper
end

if behind then
  reply[5] = wake(now_ms, now, '!')
else
  redis.call('DEL', WAKE) -- a removal first: see start.lua
  if keeper and next_at and #ids < limit then
    redis.call('SET', WAKE, digits(next_at), 'PX', digits(math.max(0, next_at - now_ms) + WAKE_GRACE))
  end
end
if told then
  local load = digits(ARGV[6] + 1)
  redis.call('SET', KEEPER, node .. ' ' .. load, 'PX', ARGV[7])
  local next_in = next_at and digits(math.max(0, next_at - now_ms)) or ''
  redis.pcall('PUBLISH', WAKE, 'k' .. next_in .. ':' .. load .. ':' .. node)
end

reply[7] = version_of(redis.call('GET', PARTITIONS) or '')
reply[2], reply[3], reply[4] = next_at and digits(next_at) or '', digits(token), expired
reply[8] = keeper and 1 or 0
return reply
