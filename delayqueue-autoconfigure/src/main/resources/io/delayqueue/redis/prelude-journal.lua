-- prelude-journal.lua: limits the calls of a journal, and records changes of its messages; see prelude.lua.

-- Rejects a call that comes after its deadline, microseconds, nil for none: its caller may no
-- longer be the only one that applies this request. Returns the error to answer with, else nil.
local function reject_late(deadline, now)
  if not deadline or deadline == '' or now <= tonumber(deadline) then return nil end
  return redis.error_reply('DQLATE the deadline of this call has passed')
end

-- Returns the revision of a message, as digits, by its stamp + envelope; nil if no journal has it.
local function revision_of(value)
  local digits = string.match(string.sub(value, 1, 8), '^[SR](%w+)$')
  return digits and to_digits(tonumber(digits, 36))
end

-- Records that messages have ended, for the journal that has their rows.
local function record_ends(ids)
  if redis.call('EXISTS', REVISIONS) == 0 then return end
  local ended = {}
  for i, revision in ipairs(redis.call('HMGET', REVISIONS, unpack(ids))) do
    if revision then ended[#ended + 1], ended[#ended + 2] = '0', revision .. ' ' .. ids[i] end
  end
  if ended[1] then
    redis.call('ZADD', CHANGES, unpack(ended))
    redis.call('HDEL', REVISIONS, unpack(ids))
  end
end

-- Records that a message failed, for the journal that has its row.
local function record_failure(id)
  local revision = redis.call('EXISTS', REVISIONS) == 1 and redis.call('HGET', REVISIONS, id)
  if revision then redis.call('ZADD', CHANGES, '0', 'F' .. revision .. ' ' .. id) end
end

-- Records that a message becomes a dead letter. Its end is not returned to a node: the node that
-- stores the dead letter deletes the row.
local function record_dead_letter(id, dead_letter)
  local revision = redis.call('EXISTS', REVISIONS) == 1 and redis.call('HGET', REVISIONS, id)
  if not revision then return end
  redis.call('ZADD', CHANGES, '0', 'D' .. revision .. ' ' .. dead_letter, NEVER, revision .. ' ' .. id)
  redis.call('HDEL', REVISIONS, id)
end

-- Records that dead letters are gone, for the journal of this queue, if there is one.
local function record_removals(dead_letters)
  if redis.call('EXISTS', JOURNAL) == 0 then return end
  for _, dead_letter in ipairs(dead_letters) do redis.call('ZADD', CHANGES, '0', 'R0 ' .. dead_letter) end
end

-- Returns the revision of the successor of a message, as digits; nil if there is none in the journal.
local function successor_revision(id)
  local successor = redis.call('HGET', SUCCESSORS, id)
  return successor and revision_of(string.match(successor, '^S[^|]*|(.*)$') or '')
end

-- Returns whether the successor of a message is of a later revision than a request, nil for none.
local function has_later_successor(id, revision)
  local later = revision and successor_revision(id)
  return later and tonumber(later) > tonumber(revision)
end

-- Records that the successor of a message is not to follow it, if there is one in the journal.
local function record_successor_end(id)
  local revision = successor_revision(id)
  if revision then redis.call('ZADD', CHANGES, '0', revision .. ' ' .. id) end
end
