-- prelude-values.lua: reads the clock, and converts numbers, times and the layout; see prelude.lua.

-- Returns microseconds since the epoch, of this server.
local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

-- Returns digits only: tostring and .. would print 17 digits as 1.79e+15. A number that is
-- itself an argument of redis.call needs none of this.
local function to_digits(number)
  return string.format('%.0f', number)
end

local function min_or_nil(one, other)
  return one and other and math.min(one, other) or one or other
end

-- Returns the time, ms, that `spec` names ('+1500' from now, '1790000000000' since the epoch),
-- but not before `now` in microseconds; rounded up, so that nothing is early.
local function due_time(spec, now)
  local now_ms = math.ceil(now / 1000)
  if string.sub(spec, 1, 1) == '+' then return now_ms + tonumber(string.sub(spec, 2)) end
  return math.max(now_ms, tonumber(spec))
end

-- Returns `due`, at most `expiry`, ms, so that an expired message releases its group and its id.
local function until_expiry(due, expiry, now)
  return expiry > 0 and math.min(due, math.max(expiry, math.ceil(now / 1000))) or due
end

local function version_of(partitions)
  return tonumber(string.match(partitions or '', '^%d+') or 0)
end

-- Returns when the pause of a queue ends, ms; math.huge for one without an end, nil if there is
-- none.
local function pause_end(partitions)
  local ends = string.match(partitions or '', 'p(%d*)')
  return ends and (tonumber(ends) or math.huge)
end

-- Rejects senders whose layout of partitions is older than the record: their message may be in
-- another partition already. Returns the error to answer with, else nil. `version`: '' to skip
-- the check.
local function reject_stale_layout(version)
  if version == '' then return nil end
  local partitions = redis.call('GET', PARTITIONS)
  if not partitions or version_of(partitions) <= tonumber(version) then return nil end
  return redis.error_reply('DQSTALE the partitions of this queue are ' .. partitions)
end
