-- claim.lua: leases due messages to one worker.
--
--   LEASED    -> SCHEDULED   leases that ran out, at most 100
--   SCHEDULED -> LEASED      at most `limit` that are due, the highest lane first, and no more
--                            than BYTES of contents and the one with which they pass that
--   SCHEDULED -> gone, DEAD  those found expired, by policy, at most REMOVALS; DEAD those
--                            without an envelope
--
-- The token of a lease is its deadline, in microseconds. If a message had a longer lease
-- before, the whole call uses a token later than that one, recorded in `renewed`.
--
-- A message whose lease ran out is due at the time when the lease was given, if the lease was
-- as long as usual: so it comes before messages that became due later. A first attempt that is
-- not plain keeps its due time.
--
-- While the queue is paused no message moves, not even if its lease ran out, and the wake mark
-- stays as it is: so senders wake workers about once a second, in vain.
--
-- The wake mark: a primary poller with free permits polls again at `next_at`, so senders need
-- not wake it for a later message. A caller that leaves due messages behind wakes the others,
-- once a second at most. A caller without free permits, or a standby node, sets no mark.
--
-- KEYS  see prelude.lua, all
--
-- ARGV[1]  limit       1..100; bounds how long the server is kept busy
-- ARGV[2]  lease_time  microseconds
-- ARGV[3]  usual_lease  microseconds; of the queue, so that of most leases that ran out
-- ARGV[4]  expired     'drop' or 'bury'
-- then, from a node that bids for the role of the primary poller:
-- ARGV[5]  bid         'hold': it has the role, and confirmed it a moment ago; 'confirm': it
--                      takes the role if it is free; 'share': or if its owner has two
--                      partitions more
-- then, except for 'hold':
-- ARGV[6]  node        its name, letters and digits
-- ARGV[7]  others      of how many other partitions it is the primary poller
-- ARGV[8]  term        ms, how long it has the role
-- ARGV[9]  grace       ms; if a message has been due for longer, the primary poller is away
--
-- Returns  { now, next_at, token, expired, refused, version, keeper, n, id, due, id, due, ...,
--            value, value, ... }
--          now: microseconds; next_at: ms, when there may be more, 0 if the queue is empty,
--          or paused without an end;
--          expired: how many were removed; refused: 1 if this user may not publish;
--          version: of the partitions; a busy worker has no other way to learn of it;
--          keeper: 1 if the caller is the primary poller; n: how many messages there are, each
--          with due: the score, in ms, which another producer may have given a fraction;
--          value: stamp + envelope
--          then, unless all due messages have only these,
--          { attempts, ... }, { details, ... }, { letter, failures, cause, ... }
--          attempts, details: as stored, '' for none; then the dead letters that the call
--          added, their failures as a string. A list costs more than its content, so the
--          lists are left out where possible
--
-- Keeps    I1 to I6 (see schedule.lua)
-- Cost     O((limit + REMOVALS) * log N), N messages in the queue

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
  local followed, bytes = redis.call('EXISTS', NEXT) == 1, 0
  lapsed_at = {}
  for i = 1, #lapsed, 2 do
    if followed then bytes = bytes + redis.call('HSTRLEN', NEXT, lapsed[i]) end
    if bytes > BYTES and i > 1 then break end -- succeed reads successors
    lapse(lapsed[i], lapsed[i + 1], tonumber(ARGV[3]))
    lapsed_at[lapsed[i]] = lapsed[i + 1] / 1000
  end
  first = redis.call('ZRANGE', LEASED, '0', '0', 'WITHSCORES')[2]
end

-- Where there are neither details nor attempts, all messages are plain: in the normal lane,
-- without expiry, and never leased before.
local lanes, plain = { SCHEDULED }, redis.call('EXISTS', DETAILS, ATTEMPTS) == 0
if paused then
  lanes = {}
elseif not plain then
  -- prelude
  lanes = lanes_in_use()
end

local deadline = now + tonumber(ARGV[2])
local token, expired, n = '', 0, 0 -- n: how many are leased
local looked, reply = {}, {} -- looked: lists of id, due, id, due and so on
local attempts, details, buried, returned

-- Contents are read before anything moves, one by one until they have BYTES: several at once
-- could be of any size. Due messages that are not read stay in their lane. Leases are added
-- before lanes are cleared, and both after a removal that takes nothing: so a missing right
-- removes no message from its lane, and a full Redis accepts the writes.
if plain and not paused then
  local due = redis.call('ZRANGE', SCHEDULED, '-inf', now_ms, 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES')
  local most, bytes = #due / 2, 0
  if most > 0 then reply, looked = { 0, 0, 0, 0, 0, 0, 0, 0, unpack(due) }, { due } end
  for i = 1, most do
    if bytes > BYTES then break end
    local content = redis.call('HGET', MESSAGES, due[2 * i - 1])
    if not content then
      plain = false
      break
    end
    bytes = bytes + #content
    reply[8 + 2 * most + i] = content
    n = i
  end
  if plain and n > 0 then
    if n < most then
      -- prelude
      local contents = { unpack(reply, 9 + 2 * most, 8 + 2 * most + n) }
      reply = { 0, 0, 0, 0, 0, 0, 0, 0, unpack(due, 1, 2 * n) }
      for i = 1, n do reply[8 + 2 * n + i] = contents[i] end
    end
    token = digits(deadline)
    local leases = { unpack(due, 1, 2 * n) }
    for i = 1, 2 * n, 2 do leases[i], leases[i + 1] = token, due[i] end
    redis.call('ZREMRANGEBYRANK', SCHEDULED, 1, 0)
    redis.call('ZADD', LEASED, unpack(leases))
    redis.call('ZREMRANGEBYRANK', SCHEDULED, 0, n - 1)
  end
end

if not plain and not paused then
  -- prelude
  local ends, latest, removed, bytes, before = digits(deadline), deadline, 0, 0
  local taken, values = {}, {}
  returned = {}
  n, looked = 0, {}
  repeat
    before = removed
    for _, lane in ipairs(lanes) do
      local room = bytes <= BYTES and math.min(limit - n, REMOVALS - removed) or 0
      local due = room > 0
        and redis.call('ZRANGE', lane, '-inf', now_ms, 'BYSCORE', 'LIMIT', 0, room, 'WITHSCORES')
      if due and due[1] then
        looked[#looked + 1] = due
        local count, ids, contents = 0, {}, {}
        while due[2 * count + 1] and bytes <= BYTES do
          count = count + 1
          ids[count] = due[2 * count - 1]
          contents[count] = redis.call('HGET', MESSAGES, ids[count])
          bytes = bytes + #(contents[count] or '')
        end
        local all_attempts = redis.call('HMGET', ATTEMPTS, unpack(ids))
        local all_details = redis.call('HMGET', DETAILS, unpack(ids))
        attempts, details, buried = attempts or {}, details or {}, buried or {}
        local leases, start, gone = {}, n, nil
        for i = 1, count do
          if all_attempts[i] then returned[ids[i]] = true end
          local expiry = tonumber(string.match(all_details[i] or '', ':(%d+):') or 0)
          if not contents[i] or expiry > 0 and expiry <= now_ms then
            gone = gone or {}
            gone[#gone + 1] = i
          else
            local last, at = tonumber(string.match(all_attempts[i] or '', ':%a:(%d+):') or 0), 2 * (n - start)
            latest = math.max(latest, last + 1)
            n = n + 1
            values[n], attempts[n], details[n] = contents[i], all_attempts[i] or '', all_details[i] or ''
            taken[2 * n - 1], taken[2 * n] = ids[i], due[2 * i]
            leases[at + 1], leases[at + 2] = ends, ids[i]
          end
        end
        redis.call('ZREMRANGEBYRANK', lane, 1, 0)
        if gone then rehearse_removal() end
        if n > start then redis.call('ZADD', LEASED, unpack(leases)) end
        redis.call('ZREMRANGEBYRANK', lane, 0, count - 1)

        -- SCHEDULED -> gone or DEAD. The next of the group may be in another lane, and due.
        for _, i in ipairs(gone or {}) do
          local id, cause = ids[i], contents[i] and 'expired' or 'missing'
          removed = removed + 1
          if contents[i] then expired = expired + 1 end
          if not contents[i] or ARGV[4] == 'bury' then
            local letter, at = id .. '~' .. digits(now), #buried
            local failures = bury(id, letter, cause, now_ms, math.ceil(tonumber(due[2 * i])), 0)
            buried[at + 1], buried[at + 2], buried[at + 3] = letter, digits(failures), cause
          end
          if forget({ id }) then lanes = lanes_in_use() end
        end
        if removed > before then break end -- start over at the highest lane
      end
    end
  until removed == before
  if attempts then token = digits(latest) end
  if latest ~= deadline then
    for i = 1, #taken, 2 do redis.call('HSET', RENEWED, taken[i], token) end
  end
  reply = { 0, 0, 0, 0, 0, 0, 0, 0, unpack(taken) }
  for i = 1, n do reply[8 + 2 * n + i] = values[i] end
end

local next_at = paused and resumes_at < math.huge and resumes_at or nil
for _, lane in ipairs(lanes) do
  local due = redis.call('ZRANGE', lane, '0', '0', 'WITHSCORES')[2]
  if due then next_at = math.min(next_at or math.huge, math.ceil(tonumber(due))) end
end
local behind = next_at ~= nil and next_at <= now_ms
if n > 0 then first = math.min(first or math.huge, deadline) end
if first then next_at = math.min(next_at or math.huge, math.ceil(first / 1000)) end
-- Another producer may have given any score; 0 stands for an empty queue.
if next_at then next_at = math.min(math.max(next_at, 1), 9007199254740991) end

-- Whether the caller is the primary poller; a successful bid is recorded and published.
local bid, node = ARGV[5], ARGV[6]
local keeper, told = bid == 'hold', false
if bid == 'confirm' or bid == 'share' then
  local kept = redis.pcall('GET', KEEPER) or ''
  local owner, load = string.match(kept.err and '' or kept, '^(%w+) (%d+)$')
  local oldest = now_ms
  -- A message whose lease ran out was not waiting until then, whenever it was due. The time at
  -- which another came back from a lease is not stored: its due time may be older than that.
  for _, due in ipairs(looked) do
    for i = 1, #due, 2 do
      local id = due[i]
      local since = lapsed_at and lapsed_at[id] or not (returned and returned[id]) and tonumber(due[i + 1])
      oldest = math.min(oldest, since or oldest)
    end
  end
  local late = not behind and now_ms - oldest >= tonumber(ARGV[9])
  local rich = bid == 'share' and owner and tonumber(load) >= ARGV[7] + 2
  keeper = not kept.err and (not owner or owner == node or late or rich) or false
  told = keeper
end

local refused = 0
if behind and not paused then
  -- prelude
  refused = wake(now_ms, now, '!')
elseif not paused then -- workers know the end of a pause, or are notified
  -- A full Redis may reject the mark unless something was removed before it.
  local marked = keeper and next_at and n < limit
    and not redis.pcall('SET', WAKE, next_at, 'PX', math.max(0, next_at - now_ms) + WAKE_GRACE).err
  if not marked and (n > 0 or expired > 0 or lapsed_at) then
    redis.pcall('DEL', WAKE)
  elseif not marked then
    redis.call('DEL', WAKE) -- nothing was written: the claim fails if Redis rejects that
  end
end
if told then
  local load = digits(ARGV[7] + 1)
  if paused then redis.pcall('DEL', KEEPER) end -- a removal first: see start.lua
  if redis.pcall('SET', KEEPER, node .. ' ' .. load, 'PX', ARGV[8]).err then
    keeper = false
  else
    local next_in = next_at and digits(math.max(0, next_at - now_ms)) or ''
    redis.pcall('PUBLISH', WAKE, 'k' .. next_in .. ':' .. load .. ':' .. node)
  end
end

local header = { now, next_at or 0, token, expired, refused, version_of(partitions), keeper and 1 or 0, n }
for i = 1, 8 do reply[i] = header[i] end
if attempts then
  local at = 8 + 3 * n
  reply[at + 1], reply[at + 2], reply[at + 3] = attempts, details, buried
end
return reply
