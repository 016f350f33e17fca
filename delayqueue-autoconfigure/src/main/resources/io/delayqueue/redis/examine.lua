-- examine.lua: reads all entries of some messages at one moment, for an integrity check;
-- changes nothing.
--
-- KEYS  see prelude.lua, all
--
-- ARGV[1]  key     which of KEYS to read
-- ARGV[2]  cursor  of HSCAN or ZSCAN, '0' to begin; '' to read the members named
-- ARGV[3]  count   about how many at once, 1..100 (all of a small key, in compact form), and
--                  fewer where contents are large; or the members to read, at most 100
--
-- Returns  { now, cursor, facts, facts, ... }   now: microseconds; cursor: '0' at the end
--          facts of a dead letter: { name, value, there }   there: whether it is in the other
--          of dead and letters
--          facts of another member: { member, value, id, stored, details, attempts, renewed,
--          next, deadline, head, first, follows, lane, due, lane, due, ... }   nil for absent
--          entries; stored: 1 if messages has it, else 0; next: 'S' for a successor, 'C' for
--          a cancelled message; head, first: of its group, or of the group that the member
--          names, and first of its followers; follows: 1 if it is one in the group of its
--          details, else 0
--
-- Cost     O(count * log N), N members of the largest set

local number, cursor, now = tonumber(ARGV[1]), ARGV[2], digits(clock())
local key, page = KEYS[number], { '0', {} }
local hash = redis.call('TYPE', key).ok == 'hash'
if cursor == '' then
  for i = 3, #ARGV do
    local value = hash and redis.call('HGET', key, ARGV[i]) or not hash and redis.call('ZSCORE', key, ARGV[i])
    if value then
      page[2][#page[2] + 1] = ARGV[i]
      page[2][#page[2] + 1] = value
    end
  end
elseif hash then
  local bytes, members = 0, page[2]
  repeat
    local some = redis.call('HSCAN', key, cursor, 'COUNT', 1) -- the next ones may be large
    for _, each in ipairs(some[2]) do
      members[#members + 1] = each
      bytes = bytes + #each
    end
    cursor = some[1]
  until cursor == '0' or #members >= 2 * ARGV[3] or bytes > BYTES
  page[1] = cursor
else
  page = redis.call('ZSCAN', key, cursor, 'COUNT', ARGV[3])
end

local lanes = {}
for lane = 0, 9 do
  if redis.call('EXISTS', lane_key(lane)) == 1 then lanes[#lanes + 1] = lane end
end

local function facts_of(member, value)
  if key == DEAD then return { member, value, redis.call('HEXISTS', LETTERS, member) } end
  if key == LETTERS then return { member, value, redis.call('ZSCORE', DEAD, member) and 1 or 0 } end
  local of, follower = string.match(key == FOLLOWERS and member or '', '^(%S*) %d*:?(.*)$')
  local id = key == HEADS and value or follower or member
  local due, _, _, own = details_of(id)
  local group = (key == HEADS or of) and (of or member) or own
  local first = redis.call('ZRANGE', FOLLOWERS, '[' .. group .. ' ', '(' .. group .. '!', 'BYLEX', 'LIMIT', 0, 1)[1]
  local successor = redis.call('HSTRLEN', NEXT, id)
  local follows = due and redis.call('ZSCORE', FOLLOWERS, groups().place(own, due, id))
  local facts = { member, value, id, redis.call('HEXISTS', MESSAGES, id), redis.call('HGET', DETAILS, id),
    redis.call('HGET', ATTEMPTS, id), redis.call('HGET', RENEWED, id),
    successor > 1 and 'S' or successor == 1 and 'C',
    redis.call('ZSCORE', LEASED, id), redis.call('HGET', HEADS, group), first or false, follows and 1 or 0 }
  for _, lane in ipairs(lanes) do
    local score = redis.call('ZSCORE', lane_key(lane), id)
    if score then
      facts[#facts + 1] = lane
      facts[#facts + 1] = score
    end
  end
  return facts
end

local reply = { now, page[1] }
for i = 1, #page[2], 2 do reply[#reply + 1] = facts_of(page[2][i], page[2][i + 1]) end
return reply
