-- scan.lua: finds messages or dead letters by the beginning of their ids, in one step of a walk
-- through one key; changes nothing.
--
-- One that is there for the whole walk is found at least once, others perhaps. The contents of
-- messages are not read.
--
-- KEYS     all of prelude.lua
--
-- ARGV[1]  key      which of KEYS: 2 or 12 a lane, 5 leased, 7 messages that have failed, 10 dead
--                   letters, 13 waiting
-- ARGV[2]  cursor   of ZSCAN or HSCAN, '0' to begin
-- ARGV[3]  pattern  of the members
-- ARGV[4]  count    about how many members the step examines, 1..500 (all of a small key)
--
-- Returns  { now, cursor, size, id, state, time, attempts, details, id, ... }
--          now: microseconds; cursor: '0' at the end; size: members of the key;
--          state: 'S' with its due time, ms, 'L' with the end of its lease, microseconds, or 'D'
--          with the time of its dead letter, ms, of which id is the name;
--          attempts, details: as stored, '' for none
--
-- Keeps    all invariants, as it changes nothing
-- Cost     O(count * log N), N members of the largest set

-- Lua passes some thousand arguments at most, and a small key is examined as a whole.
local AT_ONCE = 500
local number = tonumber(ARGV[1])
local key, hash = KEYS[number], number == 7
local page = hash and redis.call('HSCAN', key, ARGV[2], 'MATCH', ARGV[3], 'COUNT', ARGV[4])
    or redis.call('ZSCAN', key, ARGV[2], 'MATCH', ARGV[3], 'COUNT', ARGV[4])
local reply = { clock(), page[1], hash and redis.call('HLEN', key) or redis.call('ZCARD', key) }

-- Returns state and time of a member; nil for a message that has not failed, or is gone.
local function state_of(member, value)
  if hash then
    if not string.find(value, '^0*[1-9]') then return nil end
    local ends = redis.call('ZSCORE', LEASED, member)
    if ends then return 'L', ends end
    local due = waits_until(member)
    return due and 'S', due and to_digits(due)
  elseif key == LEASED then return 'L', value
  elseif key == DEAD_ORDER then return 'D', value
  elseif key == WAITING then return 'S', string.match(member, ' (%d+):') or '0'
  elseif key == PRIORITIES then
    local _, offset = lane_at(value)
    return 'S', string.format('%.17g', value - offset)
  end
  return 'S', value
end

local ids = {}
for i = 1, #page[2], 2 do
  local member, value = page[2][i], page[2][i + 1]
  local state, time = state_of(member, value)
  if state then
    local id = key == WAITING and string.match(member, ' %d+:(.*)$') or member
    local at = #reply
    ids[#ids + 1] = id
    reply[at + 1], reply[at + 2], reply[at + 3] = id, state, time
    reply[at + 4], reply[at + 5] = hash and value or '', ''
  end
end

-- Puts the values that a hash has for the ids into the reply, at an offset within each entry.
local function add(key, offset)
  for from = 1, #ids, AT_ONCE do
    local values = redis.call('HMGET', key, unpack(ids, from, math.min(from + AT_ONCE - 1, #ids)))
    for i, value in ipairs(values) do reply[3 + 5 * (from + i - 2) + offset] = value or '' end
  end
end

if key ~= DEAD_ORDER then
  if not hash then add(ATTEMPTS, 4) end
  add(DETAILS, 5)
end
return reply
