-- prelude-occurrences.lua: finds due schedules, and ends the rows of occurrences that are not stored; see prelude.lua.

-- Returns whether the queue holds a message; not for ''.
local function holds_id(id)
  return id ~= '' and redis.call('HEXISTS', MESSAGES, id) == 1
end

-- Returns names and stored texts of the schedules that are due, the one that has been due for longest first.
local function due_schedules(now_ms, limit)
  local due, bytes = {}, 0
  for _, name in ipairs(redis.call('ZRANGE', SCHEDULE_TIMES, '-inf', now_ms, 'BYSCORE', 'LIMIT', 0, limit)) do
    local state = stored_state(name)
    bytes = bytes + #state
    due[#due + 1], due[#due + 2] = name, state
    if bytes > BYTES then break end
  end
  return due
end

-- Returns names and stored texts of the schedules of the earliest next time; none if that is `NEVER`.
local function next_schedules(next_at, limit)
  return next_at < tonumber(NEVER) and due_schedules(next_at, limit) or {}
end

-- Returns whether no node but the caller fires first; `node`: the content of firing-node, or ''.
local function fires_first(caller, node)
  return caller ~= '' and (node == '' or string.match(node, '^%S+') == caller)
end

-- Returns whether a queue is a ledger, whose messages have rows in a journal.
local function is_ledger()
  return string.find(redis.call('GET', PARTITIONS) or '', 'j', 1, true) ~= nil
end

-- Returns whether a message is held that has the same row; `value`: stamp + envelope.
local function is_held(id, value)
  local revision = revision_of(value)
  return revision and revision == held_revision(id)
end

-- Returns whether the row of a message has ended; `value`: stamp + envelope.
local function has_ended(id, value)
  local revision = revision_of(value)
  return revision and redis.call('ZSCORE', CHANGES, revision .. ' ' .. id)
end

-- Records that rows of an id have ended whose messages the queue does not hold; `revisions`: with blanks between them.
local function end_rows(id, revisions)
  for revision in string.gmatch(revisions, '%d+') do redis.call('ZADD', CHANGES, 'NX', '0', revision .. ' ' .. id) end
end

-- Records that the row of a message has ended, if it has one and is not held; `value`: stamp + envelope.
local function end_row(id, value)
  if not is_held(id, value) then end_rows(id, revision_of(value) or '') end
end
