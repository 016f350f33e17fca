-- inspect-messages.lua: reads all entries of some messages at one moment, for an integrity
-- check; changes nothing.
--
-- KEYS     all of prelude.lua
--
-- ARGV[1]  key     which of KEYS to read
-- ARGV[2]  cursor  of HSCAN or ZSCAN, '0' to begin; '' to read the members named
-- ARGV[3]  count   about how many at once, 1..100 (all of a small key, in compact form), and
--                  fewer where contents are large or buckets are empty; or the members to read,
--                  at most 100
--
-- Returns  { now, cursor, facts, facts, ... }   now: microseconds; cursor: '0' at the end
--          facts of a dead letter: { name, value, there }   there: whether it is in the other
--          of `dead-order` and `dead-letters`
--          facts of another member: { member, value, id, stored, details, attempts, token,
--          successor, deadline, head, first, waits, lane, due, lane, due, ... }   nil for absent
--          entries; stored: 1 if messages has it, else 0; successor: 'S' for a successor, 'C' for
--          a cancelled message; head, first: of its group, or of the group that the member
--          names, and the first that waits in it; waits: 1 if it waits in the group of its
--          details, else 0
--
-- Keeps    all invariants, as it changes nothing
-- Cost     O(count * log N), N members of the largest set

local MAX_SCANS = 100 -- a hash that has lost most of its members has many empty buckets
local number, cursor, now = tonumber(ARGV[1]), ARGV[2], to_digits(clock())
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
  local bytes, members, scans = 0, page[2], 0
  repeat
    local some = redis.call('HSCAN', key, cursor, 'COUNT', 1) -- the next ones may be large
    for _, each in ipairs(some[2]) do
      members[#members + 1] = each
      bytes = bytes + #each
    end
    cursor, scans = some[1], scans + 1
  until cursor == '0' or #members >= 2 * ARGV[3] or bytes > BYTES or scans == MAX_SCANS
  page[1] = cursor
else
  page = redis.call('ZSCAN', key, cursor, 'COUNT', ARGV[3])
end

local function lane_and_due(lane, score)
  if lane == SCHEDULED then return NORMAL, score end
  local priority, offset = lane_at(score)
  return priority, offset > 0 and to_digits(score - offset) or score
end

local function state_of(member, value)
  if key == DEAD_ORDER then return { member, value, redis.call('HEXISTS', DEAD_LETTERS, member) } end
  if key == DEAD_LETTERS then return { member, value, redis.call('ZSCORE', DEAD_ORDER, member) and 1 or 0 } end
  if key == PRIORITIES then value = select(2, lane_and_due(key, value)) end
  local of, member_id = string.match(key == WAITING and member or '', '^(%S*) %d*:?(.*)$')
  local id = key == GROUP_HEADS and value or member_id or member
  local due, _, _, own = details_of(id)
  local group = (key == GROUP_HEADS or of) and (of or member) or own
  local first = redis.call('ZRANGE', WAITING, '[' .. group .. ' ', '(' .. group .. '!', 'BYLEX', 'LIMIT', 0, 1)[1]
  local successor = redis.call('HSTRLEN', SUCCESSORS, id)
  local waits = due and redis.call('ZSCORE', WAITING, waiting_member(own, due, id))
  local facts = { member, value, id, redis.call('HEXISTS', MESSAGES, id), redis.call('HGET', DETAILS, id),
    redis.call('HGET', ATTEMPTS, id), redis.call('HGET', TOKENS, id),
    successor > 1 and 'S' or successor == 1 and 'C',
    redis.call('ZSCORE', LEASED, id), redis.call('HGET', GROUP_HEADS, group), first or false, waits and 1 or 0 }
  for _, lane in ipairs({ SCHEDULED, PRIORITIES }) do
    local score = redis.call('ZSCORE', lane, id)
    if score then facts[#facts + 1], facts[#facts + 2] = lane_and_due(lane, score) end
  end
  return facts
end

local reply = { now, page[1] }
for i = 1, #page[2], 2 do reply[#reply + 1] = state_of(page[2][i], page[2][i + 1]) end
return reply
