-- messages.lua: lists some messages; changes nothing.
--
-- A page begins after the position where the previous one ended, whether or not that message
-- is here: it may have moved, or be in another partition of the queue.
--
-- KEYS     all of prelude.lua; used: scheduled, leased, details, attempts, scheduled:priorities,
--          waiting
--
-- ARGV[1]  listing  'SCHEDULED' all lanes, 'DUE' the due messages in them, 'LEASED',
--                   'WAITING_IN_GROUP'
-- ARGV[2]  score where the previous page ended, '' for the first page
-- ARGV[3]  member of its set there
-- ARGV[4]  limit  1..101: one more than the page, to know whether it is the last
--
-- Returns  { now, member, score, attempts, details, member, score, attempts, details, ... }
--          now: microseconds; member: the id, or the member of `waiting`;
--          attempts, details: as stored, '' for none
--
-- Keeps    all invariants, as it changes nothing
-- Cost     O(L * (limit + log N * log M)), N messages in the queue, M of them of one
--          score, L lanes in use

local now, limit = clock(), tonumber(ARGV[4])
local EXACT = '%.17g' -- another producer may have given a score a fraction
local members, scores, ids = {}, {}, {}

-- Returns how many members of a set precede the page of a lane in it.
local function passed(key, offset, from)
  local begin = redis.call('ZCOUNT', key, '-inf', '(' .. from)
  if ARGV[2] == '' then return begin end
  local position = tonumber(ARGV[2])
  local last = string.format(EXACT, offset + position)
  local start = math.max(begin, redis.call('ZCOUNT', key, '-inf', '(' .. last))
  local stop = math.max(begin, redis.call('ZCOUNT', key, '-inf', last))
  -- The sum is rounded if the position, of another lane, has a smaller fraction than scores here.
  local rounded = tonumber(last) - offset
  if rounded ~= position then return rounded < position and stop or start end
  while start < stop do -- those of one score are in order of names
    local middle = math.floor((start + stop) / 2)
    local member = redis.call('ZRANGE', key, middle, middle)[1]
    if precedes(ARGV[3], member) then stop = middle else start = middle + 1 end
  end
  return start
end

if ARGV[1] == 'WAITING_IN_GROUP' then
  local start = ARGV[2] == '' and '-' or '(' .. ARGV[3]
  members = redis.call('ZRANGE', WAITING, start, '+', 'BYLEX', 'LIMIT', 0, limit)
  for i, member in ipairs(members) do
    scores[i], ids[i] = '0', string.match(member, ' %d+:(.*)$') or member
  end
else
  local lanes = ARGV[1] == 'LEASED' and { { LEASED, 0, '-inf', '+inf' } } or lanes_in_use()
  local most = ARGV[1] == 'DUE' and math.floor(now / 1000) or math.huge
  local found = {}
  for _, lane in ipairs(lanes) do
    local key, offset, from, to = unpack(lane)
    local start = passed(key, offset, from)
    local of_key = redis.call('ZRANGE', key, start, start + limit - 1, 'WITHSCORES')
    for i = 1, #of_key, 2 do
      local due = tonumber(of_key[i + 1]) - offset
      local beyond = due > most or to ~= '+inf' and due >= LANE
      if not beyond then found[#found + 1] = { of_key[i], string.format(EXACT, due), due } end
    end
  end
  table.sort(found, function(one, other)
    return one[3] < other[3] or one[3] == other[3] and precedes(one[1], other[1])
  end)
  for i = 1, math.min(limit, #found) do members[i], scores[i] = found[i][1], found[i][2] end
  ids = members
end

local reply = { now }
if #ids == 0 then return reply end
local attempts = redis.call('HMGET', ATTEMPTS, unpack(ids))
local details = redis.call('HMGET', DETAILS, unpack(ids))
for i, member in ipairs(members) do
  local at = 4 * i - 2
  reply[at], reply[at + 1] = member, scores[i]
  reply[at + 2], reply[at + 3] = attempts[i] or '', details[i] or ''
end
return reply
