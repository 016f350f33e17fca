-- prelude-entries.lua: reads and writes entries of details and attempts; see prelude.lua.

local function to_details(due, expiry, lane, group)
  local details = to_digits(due) .. ':' .. to_digits(expiry) .. ':' .. to_digits(lane)
  return group == '' and details or details .. ':' .. group
end

-- Returns original due time (nil without readable details), expiry (0 none), lane and group
-- ('' none).
local function from_details(details)
  local due, expiry, lane, group = string.match(details or '', '^(%d+):(%d+):(%d):?(.*)$')
  if not due then return nil, 0, NORMAL, '' end
  return tonumber(due), tonumber(expiry), tonumber(lane), group
end

local function details_of(id)
  return from_details(redis.call('HGET', DETAILS, id))
end

local function attempts_of(id)
  local entry = redis.call('HGET', ATTEMPTS, id)
  local failures, lapses, redelivered, by, token, first =
    string.match(entry or '', '^(%d+):(%d+):(%d):(%a):(%d+):(.*)$')
  if not failures then return { failures = 0, lapses = 0, redelivered = 0, by = '', token = '0', first = '' } end
  return { failures = tonumber(failures), lapses = tonumber(lapses), redelivered = tonumber(redelivered),
    by = by, token = token, first = first }
end

-- Returns the first failure in the texts of failures of an entry.
local function first_failure(texts)
  return string.match(texts, '^(.*)\n%d+ [^\n]*$') or texts
end

-- Returns the texts of failures with one more: 'first\ntime last', time in ms, where last is ''
-- if it equals the first. Nodes of earlier versions read this as one text.
local function with_failure(entry, failure, now)
  local last = string.gsub(failure, '\n', ' ')
  local first = entry.failures == 0 and last or first_failure(entry.first)
  return first .. '\n' .. to_digits(math.floor(now / 1000)) .. ' ' .. (last ~= first and last or '')
end

local function set_attempts(id, entry)
  redis.call('HSET', ATTEMPTS, id, to_digits(entry.failures) .. ':' .. to_digits(entry.lapses) .. ':'
    .. to_digits(entry.redelivered) .. ':' .. entry.by .. ':' .. entry.token .. ':' .. entry.first)
end
