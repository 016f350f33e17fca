-- prelude-activity.lua: reads and writes minutes of activity; see prelude.lua. Only the scripts of
-- activity use it, whose keys record-activity.lua describes.

local ACTIVITY = KEYS[1]
local ACTIVITY_QUEUES = KEYS[2]
local ACTIVITY_NODES = KEYS[3]
local MINUTES = 180
local CELL = 50 -- bytes of a queue in a minute
local COUNTED = 42 -- of these, those of counts, before those of codes
local NO_CELL = string.rep('\0', CELL)

local function minute_of(at)
  return string.format('%08.0f', at)
end

local function row_name(at)
  return to_digits(at % MINUTES)
end

-- Returns the row of a minute; nil if there is none, or only that of three hours before.
local function row_of(prefix, at)
  local row = redis.call('HGET', ACTIVITY, prefix .. row_name(at))
  return row and string.sub(row, 1, 8) == minute_of(at) and row or nil
end

-- Returns the place of a queue, since when it has that, and when a node reported it.
local function queue_entry(entry)
  local place, since, reported = string.match(entry or '', '^(%d+) (%d+) (%d+)$')
  return tonumber(place), tonumber(since), tonumber(reported)
end

-- Changes the cells of places in a minute; `change` makes a new cell of the old one.
local function change_row(at, changes, change)
  local places, parts, copied = {}, {}, 0
  for place in pairs(changes) do places[#places + 1] = place end
  if #places == 0 then return end
  table.sort(places)
  local row = row_of('', at) or minute_of(at)
  row = row .. string.rep('\0', math.max(0, 8 + (places[#places] + 1) * CELL - #row))
  for _, place in ipairs(places) do
    local begin = 8 + place * CELL
    parts[#parts + 1] = string.sub(row, copied + 1, begin)
    parts[#parts + 1] = change(string.sub(row, begin + 1, begin + CELL), changes[place])
    copied = begin + CELL
  end
  parts[#parts + 1] = string.sub(row, copied + 1)
  redis.call('HSET', ACTIVITY, row_name(at), table.concat(parts))
end

-- Changes the row of all queues together. `flag`: 'r' a node reports, 'u' a node had no answer.
local function change_total(at, flag, changes, change)
  local row = row_of('t', at) or minute_of(at) .. '..' .. NO_CELL
  local reported = flag == 'r' and flag or string.sub(row, 9, 9)
  local unanswered = flag == 'u' and flag or string.sub(row, 10, 10)
  local cell = string.sub(row, 11)
  redis.call('HSET', ACTIVITY, 't' .. row_name(at),
    minute_of(at) .. reported .. unanswered .. (change and change(cell, changes) or cell))
end
