-- read-activity.lua: returns minutes of activity; changes nothing.
--
-- KEYS[1]  activity, KEYS[2] activity-queues, KEYS[3] activity-nodes  see record-activity.lua
--
-- ARGV[1]  what   'all' for all queues together, 'queue', or 'rows' for the latest counts of each
-- ARGV[2]  first, ARGV[3] last  ages of minutes, 179..0; 30 at most of one queue, 2 of rows
-- ARGV[4]  queue  of a queue
--
-- Returns  of all queues { now, names, name, ..., minute, ... }  names: number of the queues that
--          follow; minute: a row of all queues together, of those minutes that there are;
--          of a queue { now, since, minute, ... }  since: the minute since which it has a place,
--          '' for none; minute: as above, with the 50 bytes of the queue;
--          of rows { now, rows, row, ..., queue, place, ... }; now: ms
--
-- Keeps    all invariants, as it changes nothing
-- Cost     O(n), n minutes, and copies of as many rows of at most 10 kB

local what, queue = ARGV[1], ARGV[4]
local now_ms = math.floor(clock() / 1000)
local minute = math.floor(now_ms / 60000)
local reply, place, since, found = { to_digits(now_ms), '' }, nil, nil, 0
local entries = what ~= 'queue' and redis.call('HGETALL', ACTIVITY_QUEUES) or {}
if what == 'queue' then
  place, since = queue_entry(redis.call('HGET', ACTIVITY_QUEUES, queue))
  reply[2] = since and to_digits(since) or ''
elseif what == 'all' then
  reply[2] = to_digits(#entries / 2)
  for i = 1, #entries, 2 do reply[#reply + 1] = entries[i] end
end
for at = minute - ARGV[2], minute - ARGV[3] do
  local row = row_of(what == 'rows' and '' or 't', at)
  if row and what == 'queue' then
    local cells = place and row_of('', at) or ''
    local cell = string.sub(cells, 9 + (place or 0) * CELL, 8 + ((place or 0) + 1) * CELL)
    row = string.sub(row, 1, 10) .. (cell == '' and NO_CELL or cell)
  end
  if row then found, reply[#reply + 1] = found + 1, row end
end
if what == 'rows' then
  reply[2] = to_digits(found)
  for i = 1, #entries, 2 do
    reply[#reply + 1], reply[#reply + 2] = entries[i], to_digits(queue_entry(entries[i + 1]) or 0)
  end
end
return reply
