-- changes.lua: returns changes of messages that a journal is to record, and forgets those that it
-- has recorded.
--
-- The entry of an end is kept for a while after its row was deleted: another node may have read
-- the row before, and must not store the message again. So is that of a dead letter's removal.
--
-- The first call adds an entry to `changes` that remains until a journal has restored the partition, as
-- the process that does may end before it has. So does the first call on another server than that of the
-- call before: after a restart, or a failover to a replica, data may be lost. So does a call that names a
-- greater count than that here: data was lost on the same server.
--
-- The latest time that a journal has committed is kept, so that a database that was restored from a
-- backup is noticed: its time is earlier.
--
-- KEYS     all of prelude.lua; used: scheduled, details, attempts, dead-letters, scheduled:priorities,
--          waiting, revisions, changes, journal
--
-- ARGV[1]  journal  identity of the caller's journal
-- ARGV[2]  limit    0..1000; 0 to read the backlog only
-- ARGV[3]  claim    ms, for which other callers do not get the returned changes
-- ARGV[4]  keep     ms, for which entries are kept after they were recorded
-- ARGV[5]  time     ms since the epoch, on the journal's clock: the last one that it has committed
-- ARGV[6]  loss     ms, by which that may be earlier than the latest time of all calls
-- ARGV[7]  seen     the count that the caller's last call returned; 0 if none did
-- ARGV[8]  held     how many of the entries that follow are still being recorded by the caller
-- then entries of `changes`: those, and others that were recorded
--
-- Returns  { journal, count, time, backlog, entry, value, entry, value, ... }
--          journal: identity of the journal to which the partition belongs; if that is not the
--          caller's, nothing was changed; count: of calls, this one included; after a loss it is
--          greater than those that callers may name; time: the latest
--          one of all calls; if the caller's is earlier by more than the loss, nothing was changed;
--          backlog: how many entries there are; value: of a failure 'failures due', due '' while it is leased; of a
--          dead letter its content, '' if it is gone; else ''
--
-- Keeps    I1 to I6 (see schedule.lua)
-- Cost     O(n log N), n entries of the call and up to 2 * limit, N entries; answers with 1 MiB, or
--          with one dead letter

local now_ms = math.floor(clock() / 1000)
local identity, count, time, server = string.match(redis.call('GET', JOURNAL) or '', '^(%S+) (%d+) (%d+) ?(%S*)$')
if identity and (identity ~= ARGV[1] or tonumber(time) > ARGV[5] + ARGV[6]) then
  return { identity, tonumber(count), tonumber(time), 0 }
end
local limit, seen, forget = tonumber(ARGV[2]), tonumber(ARGV[7]), to_digits(-now_ms - ARGV[4])
redis.call('ZREM', CHANGES, PROBE)
local first = 9 + ARGV[8]
for i = 9, first - 1 do redis.call('ZADD', CHANGES, 'XX', to_digits(now_ms + ARGV[3]), ARGV[i]) end
for i = first, #ARGV do
  local entry = ARGV[i]
  local kind, revision, name = string.match(entry, '^(%a?)(%d+) (.*)$')
  if kind == 'F' or kind == 'L' then
    -- At 0 the message has failed again since.
    if (tonumber(redis.call('ZSCORE', CHANGES, entry)) or 0) > 0 then redis.call('ZREM', CHANGES, entry) end
  elseif kind == 'D' then
    redis.call('ZADD', CHANGES, 'XX', forget, revision .. ' ' .. string.match(name, '^(.*)~'))
    redis.call('ZREM', CHANGES, entry)
    -- It may have been removed before it was recorded.
    if redis.call('HEXISTS', DEAD_LETTERS, name) == 0 then redis.call('ZADD', CHANGES, '0', 'R0 ' .. name) end
  else
    redis.call('ZADD', CHANGES, 'XX', forget, entry)
  end
end
local over = redis.call('ZRANGE', CHANGES, '(' .. to_digits(-now_ms), '(0', 'BYSCORE', 'LIMIT', 0, limit)
if over[1] then redis.call('ZREM', CHANGES, unpack(over)) end

-- Returns the value of an entry; nil if there is nothing to record.
local function value_of(kind, revision, name)
  if kind == 'D' then return redis.call('HGET', DEAD_LETTERS, name) or '' end
  if kind ~= 'F' then return '' end
  if redis.call('HGET', REVISIONS, name) ~= revision then return nil end
  return to_digits(attempts_of(name).failures) .. ' ' .. (waits_until(name) or '')
end

-- Returns the id of this server, or of its data if providers hide the former; '' if both are hidden.
local function server_id()
  for _, field in ipairs({ 'run_id', 'master_replid' }) do
    local info = redis.pcall('INFO', field == 'run_id' and 'server' or 'replication')
    local id = type(info) == 'string' and string.match(info, field .. ':(%w+)') or ''
    if string.find(id, '[1-9a-f]') then return id end
  end
  return ''
end

local server_now = server_id()
if not identity or tonumber(count) < seen or server_now ~= '' and server ~= '' and server_now ~= server then
  redis.call('ZADD', CHANGES, '0', 'L' .. to_digits(now_ms) .. ' ')
end
-- After a loss the count continues above those of other callers, so that one of them notices it.
count, time = seen > tonumber(count or 0) and seen + 1000 or (count or 0) + 1, math.max(time or 0, ARGV[5])
local reply, bytes = { ARGV[1], count, time, 0 }, 0
for _, entry in ipairs(redis.call('ZRANGE', CHANGES, '0', to_digits(now_ms), 'BYSCORE', 'LIMIT', 0, limit)) do
  local value = value_of(string.match(entry, '^(%a?)(%d+) (.*)$'))
  if value then
    redis.call('ZADD', CHANGES, 'XX', to_digits(now_ms + ARGV[3]), entry)
    reply[#reply + 1], reply[#reply + 2] = entry, value
    bytes = bytes + #value
    if bytes > BYTES then break end
  else
    redis.call('ZREM', CHANGES, entry)
  end
end
redis.call('SET', JOURNAL, ARGV[1] .. ' ' .. to_digits(count) .. ' ' .. to_digits(time) .. ' ' .. server_now)
reply[4] = redis.call('ZCARD', CHANGES)
return reply
