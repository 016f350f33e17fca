-- claim.lua: leases due messages to one worker.
--
--   LEASED    -> SCHEDULED   leases that ran out, at most 100
--   SCHEDULED -> LEASED      at most `limit` that are due, the highest lane first, and no more
--                            than BYTES of contents and the one with which they pass that
--   SCHEDULED -> gone, DEAD  those found expired, by policy, at most REMOVALS; DEAD those
--                            without an envelope
--
-- The token of a lease is its deadline, in microseconds. If a message had a longer lease
-- before, the whole call uses a token later than that one, recorded in `tokens`.
--
-- A message whose lease ran out is due at the time when the lease was given, if the lease was
-- as long as usual: so it comes before messages that became due later. A first attempt that is
-- not plain keeps its due time.
--
-- In a call that takes the key `duplicates`, expired messages that become DEAD begin their windows.
--
-- While the queue is paused no message moves, not even if its lease ran out, and the wake mark
-- stays as it is: so senders wake workers about once a second, in vain.
--
-- A ledger with UNRECORDED changes is paused as well, a second at a time, until a journal has recorded
-- some: `changes` must not grow without bound while the database is away, and none may be dropped.
--
-- The wake mark: a primary poller with free permits polls again at `next_at`, so senders need
-- not wake it for a later message. A caller that leaves due messages behind wakes the others,
-- once a second at most. A caller without free permits, or a standby node, sets no mark.
--
-- KEYS     all of prelude.lua; unused: journal
--
-- ARGV[1]  limit       1..100; bounds how long the server is kept busy
-- ARGV[2]  lease_time  microseconds
-- ARGV[3]  usual_lease  microseconds; of the queue, so that of most leases that ran out
-- ARGV[4]  expired     'drop' or 'dead-letter'
-- ARGV[5]  backlog     '1' if an earlier claim left due messages behind, so that many may have one
--                      due time; otherwise '0'. The answer does not depend on it, but the cost does
-- then, from a node that bids for the role of the primary poller:
-- ARGV[6]  bid         'renew': it has the role, and confirmed it a moment ago; 'acquire': it
--                      takes the role if it is free; 'rebalance': or if its owner has two
--                      partitions more
-- then, except for 'renew':
-- ARGV[7]  node        its name, letters and digits
-- ARGV[8]  others      of how many other partitions it is the primary poller
-- ARGV[9]  term        ms, how long it has the role
-- ARGV[10] grace       ms; if a message has been due for longer, the primary poller is away
--
-- Returns  { now, next_at, token, expired, refused, version, primary, n, id, due, id, due, ...,
--            value, value, ... }
--          now: microseconds; next_at: ms, when there may be more; if due messages are left, any
--          time that is not after `now`; 0 if the queue is empty, or paused without an end;
--          expired: how many were removed; refused: 1 if this user may not publish;
--          version: of the partitions; a busy worker has no other way to learn of it;
--          primary: 1 if the caller is the primary poller; n: how many messages there are, each
--          with due: the score, in ms, which another producer may have given a fraction;
--          value: stamp + envelope
--          then, unless all due messages have only these,
--          { attempts, ... }, { details, ... }, { dead_letter, failures, cause, ... }
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
if partitions and not paused and string.find(partitions, 'j', 1, true)
    and redis.call('ZCOUNT', CHANGES, '0', '+inf') >= UNRECORDED then
  resumes_at, paused = now_ms + 1000, true
end

local first = not paused and redis.call('ZRANGE', LEASED, '0', '0', 'WITHSCORES')[2]
local lapsed_at
if first and tonumber(first) <= now then
  -- prelude
  check_removals()
  local lapsed = redis.call('ZRANGE', LEASED, '-inf', now, 'BYSCORE', 'LIMIT', 0, 100, 'WITHSCORES')
  local succeeded, bytes = redis.call('EXISTS', SUCCESSORS) == 1, 0
  lapsed_at = {}
  for i = 1, #lapsed, 2 do
    if succeeded then bytes = bytes + redis.call('HSTRLEN', SUCCESSORS, lapsed[i]) end
    if bytes > BYTES and i > 1 then break end -- finish_and_start_successor reads successors
    lapse(lapsed[i], lapsed[i + 1], tonumber(ARGV[3]))
    lapsed_at[lapsed[i]] = lapsed[i + 1] / 1000
  end
  first = redis.call('ZRANGE', LEASED, '0', '0', 'WITHSCORES')[2]
end

-- Which of the three exist. In `kinds` DETAILS counts one, and PRIORITIES two.
local entries = redis.call('EXISTS', DETAILS, ATTEMPTS, PRIORITIES)
local kinds = entries > 0 and redis.call('EXISTS', DETAILS, PRIORITIES, PRIORITIES) or 0
local detailed, prioritized, tried = kinds % 2 == 1, kinds > 1, entries > math.ceil(kinds / 2)

-- The due messages are plain if they are in the normal lane, without expiry, and were never leased
-- before: if no other lane holds any message, and no due message has an entry.
local plain = not prioritized
local normal_due -- where entries exist: the due messages of the normal lane, and their entries
local deadline = now + tonumber(ARGV[2])
local token, expired, n = '', 0, 0 -- n: how many are leased
local polled, reply = {}, {} -- polled: lists of id, due, id, due and so on
local attempts, details, dead_lettered, returned, next_at

-- Contents are read before anything moves, until they have BYTES: several at once while they are
-- small, else one by one, as several could be of any size. Due messages that are not leased stay in
-- their lane. Leases are added before lanes are cleared, and both after a removal that takes nothing:
-- so a missing right removes no message from its lane, and a full Redis accepts the writes.
if plain and not paused then
  local due = {}
  if ARGV[5] == '1' then -- the server writes each score as text, so one that all have is read once
    local head = redis.call('ZRANGE', SCHEDULED, '0', '0', 'WITHSCORES')[2]
    local same = head and tonumber(head) <= now_ms
      and redis.call('ZRANGE', SCHEDULED, head, head, 'BYSCORE', 'LIMIT', '0', ARGV[1]) or {}
    for i = 1, #same == limit and limit or 0 do due[2 * i - 1], due[2 * i] = same[i], head end
  end
  if not due[1] then
    due = redis.call('ZRANGE', SCHEDULED, '-inf', now_ms, 'BYSCORE', 'LIMIT', '0', ARGV[1], 'WITHSCORES')
  end
  local most, bytes, ids = #due / 2, 0, {}
  for i = 1, most do ids[i] = due[2 * i - 1] end
  if entries > 0 and most > 0 then
    local all_attempts = tried and redis.call('HMGET', ATTEMPTS, unpack(ids)) or {}
    local all_details = detailed and redis.call('HMGET', DETAILS, unpack(ids)) or {}
    for i = 1, most do plain = plain and not (all_attempts[i] or all_details[i]) end
    normal_due = { due, all_attempts, all_details }
    if not plain then most = 0 end
  end
  if most > 0 then reply, polled = { 0, 0, 0, 0, 0, 0, 0, 0, unpack(due) }, { due } end
  local before, contents = 0, {} -- contents: those that were read last; `before`: how many before them
  for i = 1, most do
    if bytes > BYTES then break end
    if i - before > #contents then
      before = n
      contents = redis.call('HMGET', MESSAGES, unpack(ids, i, bytes < n * SMALL and math.min(n + TOGETHER, most) or i))
    end
    local content = contents[i - before]
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
    token = to_digits(deadline)
    local leases = { unpack(due, 1, 2 * n) }
    for i = 1, 2 * n, 2 do leases[i], leases[i + 1] = token, due[i] end
    redis.call('ZREMRANGEBYRANK', SCHEDULED, '1', '0')
    redis.call('ZADD', LEASED, unpack(leases))
    redis.call('ZREMRANGEBYRANK', SCHEDULED, '0', n - 1)
  end
end

if plain and not paused then
  next_at = redis.call('ZRANGE', SCHEDULED, '0', '0', 'WITHSCORES')[2]
  next_at = next_at and math.ceil(tonumber(next_at))
elseif not paused then
  local ends, latest, removed, bytes = to_digits(deadline), deadline, 0, 0
  local taken, values, listed = {}, {}, false
  attempts, details, returned = {}, {}, {}
  n, polled = 0, {}

  -- Leases what is due in one lane, whose scores begin at `from` and are `offset` later than
  -- due times.
  local function take(key, from, offset)
    local room = math.min(limit - n, REMOVALS - removed)
    local due, all_attempts, all_details = unpack(normal_due or {})
    normal_due = nil
    due = due or redis.call('ZRANGE', key, from, offset + now_ms, 'BYSCORE', 'LIMIT', '0', room, 'WITHSCORES')
    if not due[1] then return end
    local ids, contents, gone = {}, {}, {}
    for i = 1, #due / 2 do
      if bytes > BYTES then break end
      ids[i] = due[2 * i - 1]
      if offset > 0 then -- of 16 digits, the first is that of the lane
        due[2 * i] = #due[2 * i] == 16 and string.sub(due[2 * i], 2) or to_digits(due[2 * i] - offset)
      end
      contents[i] = redis.call('HGET', MESSAGES, ids[i])
      bytes = bytes + #(contents[i] or '')
    end
    polled[#polled + 1] = due
    all_attempts = all_attempts or tried and redis.call('HMGET', ATTEMPTS, unpack(ids)) or {}
    all_details = all_details or detailed and redis.call('HMGET', DETAILS, unpack(ids)) or {}
    local leases, leased, m = {}, {}, 0
    for i, id in ipairs(ids) do
      local content, entry, detail = contents[i], all_attempts[i], all_details[i]
      local expiry = detail and tonumber(string.match(detail, ':(%d+):')) or 0
      if entry then returned[id] = true end
      if not content or expiry > 0 and expiry <= now_ms then
        gone[#gone + 1] = i
      else
        if entry then
          latest = math.max(latest, (tonumber(string.match(entry, ':%a:(%d+):')) or 0) + 1)
        end
        listed = listed or entry or detail
        n, m = n + 1, m + 1
        values[n], attempts[n], details[n] = content, entry or '', detail or ''
        taken[2 * n - 1], taken[2 * n] = id, due[2 * i]
        leases[2 * m - 1], leases[2 * m], leased[m] = ends, id, id
      end
    end
    redis.call('ZREM', key, PROBE)
    if m > 0 then
      redis.call('ZADD', LEASED, unpack(leases))
      redis.call('ZREM', key, unpack(leased))
    end

    -- SCHEDULED -> gone or DEAD. The next of the group may be in another lane, and due.
    if gone[1] then
      -- prelude
      check_permissions()
      dead_lettered, removed = dead_lettered or {}, removed + #gone
      for _, i in ipairs(gone) do
        local id, cause = ids[i], contents[i] and 'expired' or 'missing'
        if contents[i] then expired = expired + 1 else redis.call('HDEL', REVISIONS, id) end -- a journal may restore it
        if not contents[i] or ARGV[4] == 'dead-letter' then
          local dead_letter, at = id .. '~' .. to_digits(now), #dead_lettered
          local window = DUPLICATES and window_of(id)
          if window then start_window(id, window, now) end
          local failures = add_dead_letter(id, dead_letter, cause, now_ms, math.ceil(tonumber(due[2 * i])), 0)
          dead_lettered[at + 1], dead_lettered[at + 2], dead_lettered[at + 3] = dead_letter, to_digits(failures), cause
        end
        redis.call('ZREM', key, id)
        if delete_messages({ id }) then prioritized = true end
      end
    end
  end

  local function has_room()
    return n < limit and bytes <= BYTES and removed < REMOVALS
  end

  -- Goes from the highest lane to the lowest, and starts again after messages were removed. Each
  -- step finds the first message of the next lane that holds any.
  repeat
    local before, from, last, normal = removed, '-inf', nil, false
    next_at = nil
    repeat
      local head = prioritized
        and redis.call('ZRANGE', PRIORITIES, from, '+inf', 'BYSCORE', 'LIMIT', '0', '1', 'WITHSCORES')[2]
      local lane = head and math.max(0, math.min(8, math.floor(head / LANE))) or 9
      if lane > 4 and not normal then
        normal = true
        if has_room() then take(SCHEDULED, '-inf', 0) end
        local first_due = redis.call('ZRANGE', SCHEDULED, '0', '0', 'WITHSCORES')[2]
        if first_due then next_at = math.min(next_at or math.huge, math.ceil(tonumber(first_due))) end
      end
      if lane < 9 and removed == before then
        local due = head - lane * LANE
        if due <= now_ms and last ~= lane and has_room() then
          last = lane
          take(PRIORITIES, lane > 0 and lane * LANE or '-inf', lane * LANE)
        else
          next_at = math.min(next_at or math.huge, math.ceil(due))
          from = (lane + 1) * LANE
          if lane == 8 then lane = 9 end
        end
      end
      local behind = next_at and next_at <= now_ms and not has_room() -- other lanes need not be read
    until lane == 9 and normal or removed > before or behind
  until removed == before
  if n > 0 then token = to_digits(latest) end
  if latest ~= deadline then
    for i = 1, #taken, 2 do redis.call('HSET', TOKENS, taken[i], token) end
  end
  reply = { 0, 0, 0, 0, 0, 0, 0, 0, unpack(taken) }
  for i = 1, n do reply[8 + 2 * n + i] = values[i] end
  if not listed and not dead_lettered then attempts = nil end
end

if paused and resumes_at < math.huge then next_at = resumes_at end
local behind = next_at ~= nil and next_at <= now_ms
if n > 0 then first = math.min(first or math.huge, deadline) end
if first then next_at = math.min(next_at or math.huge, math.ceil(first / 1000)) end
-- Another producer may have given any score; 0 stands for an empty queue.
if next_at then next_at = math.min(math.max(next_at, 1), 9007199254740991) end

-- Whether the caller is the primary poller; a successful bid is recorded and published.
local bid, node = ARGV[6], ARGV[7]
local primary, takes_role = bid == 'renew', false
if bid == 'acquire' or bid == 'rebalance' then
  local holder = redis.pcall('GET', PRIMARY) or ''
  local owner, load = string.match(holder.err and '' or holder, '^(%w+) (%d+)$')
  local oldest = now_ms
  -- A message whose lease ran out was not waiting until then, whenever it was due. The time at
  -- which another came back from a lease is not stored: its due time may be older than that.
  for _, due in ipairs(polled) do
    for i = 1, #due, 2 do
      local id = due[i]
      local since = lapsed_at and lapsed_at[id] or not (returned and returned[id]) and tonumber(due[i + 1])
      oldest = math.min(oldest, since or oldest)
    end
  end
  local late = not behind and now_ms - oldest >= tonumber(ARGV[10])
  local overloaded = bid == 'rebalance' and owner and tonumber(load) >= ARGV[8] + 2
  primary = not holder.err and (not owner or owner == node or late or overloaded) or false
  takes_role = primary
end

local refused = 0
if behind and not paused then
  -- prelude
  refused = wake_if_earlier(now_ms, now, '!')
elseif not paused then -- workers know the end of a pause, or are notified
  -- A full Redis may reject the mark unless something was removed before it.
  local marked = primary and next_at and n < limit
    and not redis.pcall('SET', WAKE, next_at, 'PX', math.max(0, next_at - now_ms) + WAKE_GRACE).err
  if not marked and (n > 0 or expired > 0 or lapsed_at) then
    redis.pcall('DEL', WAKE)
  elseif not marked then
    redis.call('DEL', WAKE) -- nothing was written: the claim fails if Redis rejects that
  end
end
if takes_role then
  local load = to_digits(ARGV[8] + 1)
  if paused then redis.pcall('DEL', PRIMARY) end -- a removal first: see mark-started.lua
  if redis.pcall('SET', PRIMARY, node .. ' ' .. load, 'PX', ARGV[9]).err then
    primary = false
  else
    local next_in = next_at and to_digits(math.max(0, next_at - now_ms)) or ''
    redis.pcall('PUBLISH', WAKE, 'k' .. next_in .. ':' .. load .. ':' .. node)
  end
end

local header = { now, next_at or 0, token, expired, refused, version_of(partitions), primary and 1 or 0, n }
for i = 1, 8 do reply[i] = header[i] end
if attempts then
  local at = 8 + 3 * n
  reply[at + 1], reply[at + 2], reply[at + 3] = attempts, details, dead_lettered or {}
end
return reply
