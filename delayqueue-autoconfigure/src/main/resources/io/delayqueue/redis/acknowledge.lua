-- acknowledge.lua: ends leases because their messages were handled, or have expired.
--
--   LEASED -> gone, or the successor SCHEDULED; what is next in the group into its lane
--
-- Also begins the duplicate windows of messages, in a call that takes the key `duplicates`. Others leave
-- such messages, so that calls without them have no key more. Messages that have expired begin none.
--
-- KEYS     all of prelude.lua; unused: partitions, primary, journal
--
-- ARGV  token, n, then n ids that were leased with it; repeated for each token. A second
--       occurrence of an id is rejected. Then 'expired' if they were not handled, but have expired
--
-- Returns  { refused, done, done, ... }, without the rest if all were done
--          done: 1, 0 if the message is no longer the caller's and nothing changed, or 2 if
--          nothing changed as successors of others are large: repeat the call for those; or 3 if
--          nothing changed as it has a duplicate window: repeat it with `duplicates`
--
-- Keeps    I1 to I6 (see schedule.lua)
-- Cost     O(n log N), n leases in the call

local at = ARGV[2] + 3
local ids, tokens, claims = { unpack(ARGV, 3, at - 1) }, {}, 1 -- tokens: of all ids, unless all have the first
while at < #ARGV do
  for i = #tokens + 1, #ids do tokens[i] = ARGV[1] end
  for i = at + 2, at + 1 + ARGV[at + 1] do ids[#ids + 1], tokens[#tokens + 1] = ARGV[i], ARGV[at] end
  claims, at = claims + 1, at + 2 + ARGV[at + 1]
end

-- Where none of these exists, all leases are plain: never extended, and without a successor.
local entries = redis.call('EXISTS', TOKENS, SUCCESSORS, DETAILS, ATTEMPTS, REVISIONS)
-- Which exist: one for ATTEMPTS, two for TOKENS, four and more for the others; of `entries` DETAILS is left.
local kinds = entries == 0 and 0 or redis.call('EXISTS', ATTEMPTS, TOKENS, TOKENS, SUCCESSORS, SUCCESSORS, SUCCESSORS,
  SUCCESSORS, GROUP_HEADS, GROUP_HEADS, GROUP_HEADS, GROUP_HEADS, REVISIONS, REVISIONS, REVISIONS, REVISIONS)

-- Many leases of few tokens are found by their ends, which are the tokens if TOKENS is absent. To read the
-- end of each would take longer, as the server writes it as text.
local held, token = kinds < 2 and #ids >= 8 * claims and {}, nil
for i = 1, held and #ids or 0 do
  local id = ids[i]
  if token ~= (tokens[i] or ARGV[1]) then
    token = tokens[i] or ARGV[1]
    local same = string.find(token, '^%d+$')
      and redis.call('ZRANGE', LEASED, token, token, 'BYSCORE', 'LIMIT', '0', '100') or {}
    for k = 1, #same do
      if held[same[k]] == nil then held[same[k]] = token end
    end
  end
  if held[id] ~= token then
    held = nil
    break
  end
  held[id] = false -- rejects a second occurrence
end

local reply, done, seen = { 0 }, ids, {}
if not held then
  local deadlines = redis.call('ZMSCORE', LEASED, unpack(ids))
  local known = kinds > 1 and redis.call('HMGET', TOKENS, unpack(ids)) or {}
  done = {}
  for i, id in ipairs(ids) do
    local valid = deadlines[i] and (tokens[i] or ARGV[1]) == (known[i] or deadlines[i]) and not seen[id]
    if valid then done[#done + 1], seen[id] = id, i end
    reply[i + 1] = valid and 1 or 0
  end
  if #done == 0 then return reply end
end

local due
if entries == 0 then
  redis.call('HDEL', MESSAGES, PROBE) -- see check_removals
  redis.call('ZREM', LEASED, unpack(done))
  redis.call('HDEL', MESSAGES, unpack(done))
elseif kinds < 4 then
  local others = { kinds % 2 == 1 and ATTEMPTS or nil }
  if kinds > 1 then others[#others + 1] = TOKENS end
  if entries > #others then others[#others + 1] = DETAILS end
  for _, hash in ipairs(others) do redis.call('HDEL', hash, PROBE) end
  redis.call('ZREM', LEASED, unpack(done))
  redis.call('HDEL', MESSAGES, unpack(done))
  for _, hash in ipairs(others) do redis.call('HDEL', hash, unpack(done)) end
else
  -- prelude
  check_removals()
  check_permissions()
  local others, bytes = redis.call('EXISTS', SUCCESSORS, REVISIONS, REVISIONS), 0 -- two for REVISIONS
  if others > 1 and not ARGV[at] then
    done = start_windows(done, clock(), function(id) reply[seen[id] + 1] = 3 end)
  end
  for i = 1, others % 2 == 1 and #done or 0 do
    bytes = bytes + redis.call('HSTRLEN', SUCCESSORS, done[i])
    if bytes > BYTES and i > 1 then reply[seen[done[i]] + 1], done[i] = 2, nil end
  end
  if others % 2 == 0 and done[1] then
    redis.call('ZREM', LEASED, unpack(done))
    due = delete_messages(done)
  else
    for _, id in ipairs(done) do due = min_or_nil(due, finish_and_start_successor(id)) end
  end
end
if due then
  -- prelude
  reply[1] = wake_if_earlier(due, clock())
else clear_wake_mark() end
return #done < #ids and reply or { reply[1] }
