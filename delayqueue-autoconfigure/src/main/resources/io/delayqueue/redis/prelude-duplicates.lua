-- prelude-duplicates.lua: keeps the ids whose duplicate windows have begun; see prelude.lua.

-- Returns the duplicate window of a message that is held, ms; nil for none.
local function window_of(id)
  return tonumber(string.match(redis.call('HGET', REVISIONS, id) or '', '^-(%d+)$'))
end

-- Returns whether the window of an id has begun and not ended.
local function is_duplicate(id, now)
  local ends = redis.call('ZSCORE', DUPLICATES, id)
  return ends and tonumber(ends) > math.floor(now / 1000)
end

-- Removes windows that have ended, at most REMOVALS.
local function trim_windows(now)
  local ended = redis.call('ZRANGE', DUPLICATES, '-inf', math.floor(now / 1000), 'BYSCORE', 'LIMIT', 0, REMOVALS)
  if ended[1] then redis.call('ZREM', DUPLICATES, unpack(ended)) end
end

local LONGEST_WINDOW = 604800000 -- ms

-- Returns the ids whose windows began with these dead letters. A window that ends too late for that
-- is of a later message of the id.
local function ids_of_windows(dead_letters)
  local ids = {}
  for _, dead_letter in ipairs(dead_letters) do
    local id = string.match(dead_letter, '^(.*)~') or dead_letter
    local dead_at, ends = redis.call('ZSCORE', DEAD_ORDER, dead_letter), redis.call('ZSCORE', DUPLICATES, id)
    if dead_at and ends and tonumber(ends) <= tonumber(dead_at) + 1 + LONGEST_WINDOW then ids[#ids + 1] = id end
  end
  return ids
end

-- Begins the window of an id. The key expires with its last id: a user without that right
-- leaves it to trim_windows.
local function start_window(id, window, now)
  local begin = math.ceil(now / 1000)
  trim_windows(now)
  redis.call('ZADD', DUPLICATES, to_digits(begin + window), id)
  local last = redis.call('ZRANGE', DUPLICATES, -1, -1, 'WITHSCORES')[2]
  redis.pcall('PEXPIRE', DUPLICATES, to_digits(last - begin + 1))
end

-- Begins the windows of messages that were handled, except of those that were cancelled. Returns
-- the messages to acknowledge, without those with a window if this call has not the key.
local function start_windows(ids, now, is_left)
  local rest = {}
  for i, entry in ipairs(redis.call('HMGET', REVISIONS, unpack(ids))) do
    local id, window = ids[i], tonumber(string.match(entry or '', '^-(%d+)$'))
    if window and not DUPLICATES then
      is_left(id)
    else
      rest[#rest + 1] = id
      if window and redis.call('HGET', SUCCESSORS, id) ~= 'C' then start_window(id, window, now) end
    end
  end
  return rest
end
