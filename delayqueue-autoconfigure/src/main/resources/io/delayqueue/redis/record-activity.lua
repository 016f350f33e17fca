-- record-activity.lua: adds the report of a node to the current minute of activity.
--
-- A report says what one node did since its last one. A node sends a report again, with the same
-- number, until it has an answer, so nothing is added twice. The counts of the last seconds of a
-- node are lost with it. A node that had no answer for more than ten minutes in which others reported
-- may be forgotten; a report whose answer was lost before that is then added twice.
--
-- KEYS[1]  activity         HASH  row of a minute, its remainder by 180 -> the minute, 8 digits,
--                                 then 50 bytes for each place of a queue: handlers started in
--                                 each of 13 classes of lateness and failed attempts, 3 bytes
--                                 each; then due, leased, scheduled and dead messages, 2 bytes
--                                 each, 0 if not counted, else as BacklogCode has it;
--                                 't' and that row -> the minute, 8 digits, 'r' if a node has
--                                 reported in it, 'u' if a node had no answer, '.' otherwise, and
--                                 50 bytes of all queues together;
--                                 'last' -> the latest minute; 'asked' -> when a node was asked to
--                                 count messages, ms
-- KEYS[2]  activity-queues  HASH  queue -> 'place since reported': its place, from 0, the minute
--                                 since which it has that, and one in which a node reported it
-- KEYS[3]  activity-nodes   HASH  node -> 'number minute' of its last report; all settings of the
--                                 namespace, in one slot with the list of queues
--
-- ARGV[1]  node        letters and digits
-- ARGV[2]  number      of the report, from 1
-- ARGV[3]  unanswered  ms, for which the node had no answer before; 0 for none
-- ARGV[4]  queue, ARGV[5] 'field:count ...', the fields that are not zero, from 0; and so on for at
--          most 50 queues; '' for those without a place
--
-- Returns  { now, left_out, queue, ..., queue, ... }  now: ms; left_out: number of the queues that
--          follow it and got no place; then the queues whose messages the node is to count now:
--          one node does, until they are counted, at most every 20 s
--
-- Keeps    I1 to I6, which are about other keys
-- Cost     O(n + 200), n queues, and copies of a row of at most 10 kB; at the first report of a
--          minute also O(N), N nodes

local ASK_AGAIN = 20000 -- ms
local MAX = 16777215

local node, number, unanswered = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local now_ms = math.floor(clock() / 1000)
local minute = math.floor(now_ms / 60000)

local function add_counts(cell, counts)
  local bytes = { string.byte(cell, 1, CELL) }
  for field, count in pairs(counts) do
    local at = field * 3
    local sum = math.min(bytes[at + 1] * 65536 + bytes[at + 2] * 256 + bytes[at + 3] + count, MAX)
    bytes[at + 1], bytes[at + 2], bytes[at + 3] = math.floor(sum / 65536), math.floor(sum / 256) % 256, sum % 256
  end
  return string.char(unpack(bytes))
end

redis.call('HDEL', ACTIVITY_NODES, '') -- a removal first: see mark-started.lua
begin_minute(minute)
local queues = {}
for i = 4, #ARGV, 2 do
  if ARGV[i] ~= '' then queues[#queues + 1] = ARGV[i] end
end
local places = places_of(queues, minute)
local known = tonumber(string.match(redis.call('HGET', ACTIVITY_NODES, node) or '', '^%d+') or 0)
if number > known then
  local changes, total = {}, {}
  for i = 4, #ARGV, 2 do
    local counts, place = {}, places[ARGV[i]]
    for text, count in string.gmatch(ARGV[i + 1], '(%d+):(%d+)') do
      local field = tonumber(text)
      counts[field], total[field] = tonumber(count), (total[field] or 0) + count
    end
    if place and next(counts) then changes[place] = counts end
  end
  put_entry(ACTIVITY_NODES, node, to_digits(number) .. ' ' .. to_digits(minute))
  change_row(minute, changes, add_counts)
  change_total(minute, 'r', total, add_counts)
end
if unanswered > 0 then
  local since = math.floor((now_ms - unanswered) / 60000)
  for at = math.max(since, minute - MINUTES + 1), minute do change_total(at, 'u') end
end

local reply = { to_digits(now_ms), '' }
for _, queue in ipairs(queues) do
  if not places[queue] then reply[#reply + 1] = queue end
end
reply[2] = to_digits(#reply - 2)
local codes = 11 + COUNTED
local first, second = string.byte(row_of('t', minute) or NO_CELL, codes, codes + 1)
local asked = tonumber(redis.call('HGET', ACTIVITY, 'asked') or 0)
if (first or 0) + (second or 0) == 0 and math.abs(now_ms - asked) >= ASK_AGAIN then
  redis.call('HSET', ACTIVITY, 'asked', to_digits(now_ms))
  local all = redis.call('HGETALL', ACTIVITY_QUEUES)
  for i = 1, #all, 2 do reply[#reply + 1] = all[i] end
end
return reply
