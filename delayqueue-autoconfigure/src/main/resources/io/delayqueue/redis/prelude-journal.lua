-- prelude-journal.lua: limits the calls of a journal, and records changes of its messages; see prelude.lua.

-- Returns the error for a call after its deadline, microseconds, as others may apply it; else nil.
local function reject_late(deadline, now)
  if not deadline or deadline == '' or now <= tonumber(deadline) then return nil end
  return redis.error_reply('DQLATE the deadline of this call has passed')
end

-- Returns the revision of a message, as digits, by its stamp + envelope; nil if no journal has it.
local function revision_of(value)
  local digits = string.match(string.sub(value, 1, 8), '^[SR](%w+)$')
  return digits and to_digits(tonumber(digits, 36))
end

-- Keeps messages out that a request has made void, whether the queue holds them or not. `void`: their
-- revisions, with blanks between them. `keep`: ms.
local function keep_out(id, void, keep, now)
  for revision in string.gmatch(void, '%d+') do
    redis.call('ZADD', CHANGES, 'NX', to_digits(-math.floor(now / 1000) - keep), revision .. ' ' .. id)
  end
end

-- Returns the revision of a message that is held; nil if no journal has it.
local function held_revision(id)
  return string.match(redis.call('HGET', REVISIONS, id) or '', '^%d+$')
end

-- Records that messages have ended, for the journal that has their rows.
local function record_ends(ids)
  if redis.call('EXISTS', REVISIONS) == 0 then return end
  local ended, known = {}, false
  for i, revision in ipairs(redis.call('HMGET', REVISIONS, unpack(ids))) do
    known = known or revision
    if revision and string.sub(revision, 1, 1) ~= '-' then
      ended[#ended + 1], ended[#ended + 2] = '0', revision .. ' ' .. ids[i]
    end
  end
  if ended[1] then redis.call('ZADD', CHANGES, unpack(ended)) end
  if known then redis.call('HDEL', REVISIONS, unpack(ids)) end
end

-- Records that a message failed, for the journal that has its row.
local function record_failure(id)
  local revision = held_revision(id)
  if revision then redis.call('ZADD', CHANGES, '0', 'F' .. revision .. ' ' .. id) end
end

-- Records that a message becomes a dead letter. The node that stores it deletes the row too.
local function record_dead_letter(id, dead_letter)
  local revision = held_revision(id)
  if not revision then return end
  redis.call('ZADD', CHANGES, '0', 'D' .. revision .. ' ' .. dead_letter, NEVER, revision .. ' ' .. id)
  redis.call('HDEL', REVISIONS, id)
end

-- Records that dead letters are gone, for the journal of this queue, if there is one.
local function record_removals(dead_letters)
  if redis.call('EXISTS', JOURNAL) == 0 then return end
  for _, dead_letter in ipairs(dead_letters) do redis.call('ZADD', CHANGES, '0', 'R0 ' .. dead_letter) end
end
