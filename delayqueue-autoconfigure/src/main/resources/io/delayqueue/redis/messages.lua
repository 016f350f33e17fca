-- messages.lua: lists some messages; changes nothing.
--
-- A page begins after the position where the previous one ended, whether or not that message
-- is here: it may have moved, or be in another partition of the queue.
--
-- KEYS  see prelude.lua, all
--
-- ARGV[1]  listing  'SCHEDULED' all lanes, 'DUE' the due messages in them, 'LEASED',
--                   'FOLLOWERS'
-- ARGV[2]  score where the previous page ended, '' for the first page
-- ARGV[3]  member of its set there
-- ARGV[4]  limit  1..101: one more than the page, to know whether it is the last
--
-- Returns  { now, member, score, attempts, details, member, score, attempts, details, ... }
--          now: microseconds; member: the id, or the member of followers;
--          attempts, details: as stored, '' for none
--
-- Cost     O(L * (limit + log N * log M)), N messages in the queue, M of them of one
--          score, L lanes in use

local now = clock()
local limit = tonumber(ARGV[4])
local precedes = groups().precedes
local members, scores, ids = {}, {}, {}

-- Returns how many members of a set precede the page.
local function passed(key)
  if ARGV[2] == '' then return 0 end
  local start = redis.call('ZCOUNT', key, '-inf', '(' .. ARGV[2])
  local stop = redis.call('ZCOUNT', key, '-inf', ARGV[2])
  while start < stop do -- those of one score are in order of names
    local middle = math.floor((start + stop) / 2)
    local member = redis.call('ZRANGE', key, middle, middle)[1]
    if precedes(ARGV[3], member) then stop = middle else start = middle + 1 end
  end
  return start
end

if ARGV[1] == 'FOLLOWERS' then
  local start = ARGV[2] == '' and '-' or '(' .. ARGV[3]
  members = redis.call('ZRANGE', FOLLOWERS, start, '+', 'BYLEX', 'LIMIT', 0, limit)
  for i, member in ipairs(members) do
    scores[i], ids[i] = '0', string.match(member, ' %d+:(.*)$') or member
  end
else
  local keys = ARGV[1] == 'LEASED' and { LEASED } or lanes_in_use()
  local most = ARGV[1] == 'DUE' and math.floor(now / 1000) or math.huge
  local found = {}
  for _, key in ipairs(keys) do
    local start = passed(key)
    local of_key = redis.call('ZRANGE', key, start, start + limit - 1, 'WITHSCORES')
    for i = 1, #of_key, 2 do
      local number = tonumber(of_key[i + 1])
      if number <= most then found[#found + 1] = { of_key[i], of_key[i + 1], number } end
    end
  end
  if #keys > 1 then
    table.sort(found, function(one, other)
      if one[3] ~= other[3] then return one[3] < other[3] end
      return precedes(one[1], other[1])
    end)
  end
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
