-- acknowledge.lua: ends leases because their messages were handled.
--
--   LEASED -> gone, or the successor SCHEDULED; what is next in the group into its lane
--
-- KEYS     all of prelude.lua; unused: partitions, primary, journal
--
-- ARGV  token, n, then n ids that were leased with it; repeated for each token. A second
--       occurrence of an id is rejected
--
-- Returns  { refused, done, done, ... }, without the rest if all were done
--          done: 1, 0 if the message is no longer the caller's and nothing changed, or 2 if
--          nothing changed as successors of others are large: repeat the call for those
--
-- Keeps    I1 to I6 (see schedule.lua)
-- Cost     O(n log N), n leases in the call

local ids, tokens = {}, {}
local at = 1
while at < #ARGV do
  local first, last = at + 2, at + 1 + ARGV[at + 1]
  for i = first, last do ids[#ids + 1], tokens[#tokens + 1] = ARGV[i], ARGV[at] end
  at = last + 1
end

local deadlines = redis.call('ZMSCORE', LEASED, unpack(ids))
-- Where none of these exists, all leases are plain: never extended, and without a successor.
local entries = redis.call('EXISTS', TOKENS, SUCCESSORS, DETAILS, ATTEMPTS, REVISIONS)
-- Which of them exist, in one command: one for ATTEMPTS, two for TOKENS, four and more where
-- there are successors, groups or messages of a journal. The rest of `entries` is DETAILS.
local kinds = entries == 0 and 0 or redis.call('EXISTS', ATTEMPTS, TOKENS, TOKENS, SUCCESSORS,
  SUCCESSORS, SUCCESSORS, SUCCESSORS, GROUP_HEADS, GROUP_HEADS, GROUP_HEADS, GROUP_HEADS, REVISIONS,
  REVISIONS, REVISIONS, REVISIONS)
local known = kinds > 1 and redis.call('HMGET', TOKENS, unpack(ids)) or {}

local reply, done, seen = { 0 }, {}, {}
for i, id in ipairs(ids) do
  local held = deadlines[i] and tokens[i] == (known[i] or deadlines[i]) and not seen[id]
  if held then done[#done + 1], seen[id] = id, i end
  reply[i + 1] = held and 1 or 0
end
if #done == 0 then return reply end

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
  local succeeded, bytes = redis.call('EXISTS', SUCCESSORS) == 1, 0
  for i = 1, succeeded and #done or 0 do
    bytes = bytes + redis.call('HSTRLEN', SUCCESSORS, done[i])
    if bytes > BYTES and i > 1 then reply[seen[done[i]] + 1], done[i] = 2, nil end
  end
  if not succeeded then
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
