-- prelude-settlements.lua: ends an attempt: with a successor, a dead letter, or a return to the lane; see prelude.lua.

-- Returns due time, expiry, lane, group, and stamp + envelope of a successor; nil if there is
-- none.
local function successor_of(id)
  local successor = redis.call('HGET', SUCCESSORS, id)
  if not successor or successor == 'C' then return nil end
  local details, value = string.match(successor, '^S([^|]*)|(.*)$')
  local due, expiry, lane, group = from_details(details)
  return due, expiry, lane, group, value
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

-- LEASED -> gone, or the successor SCHEDULED. Returns the earliest due time of the messages
-- that entered a lane, nil if none did. Follows check_permissions.
local function finish_and_start_successor(id)
  redis.call('ZREM', LEASED, id)
  local due, expiry, lane, group, value = successor_of(id)
  local next_due = delete_messages({ id })
  return min_or_nil(next_due, due and store_message(id, value, due, expiry, lane, group))
end

-- Adds a dead letter for a message that has left its set, and returns its failures. Content:
-- 'dead_at:due:failures:lapses:expiry:lane:length of cause:length of first failure:' + group
-- + cause + first failure + stamp + envelope; where there is a group, '+' and its length follow
-- the lane.
local function add_dead_letter(id, dead_letter, cause, dead_at, due, failed)
  local entry = attempts_of(id)
  local original, expiry, lane, group = details_of(id)
  if expiry > 0 then expiry = expiry - original end
  local length = group ~= '' and '+' .. to_digits(#group) or ''
  local failures, first = entry.failures + failed, first_failure(entry.first)
  redis.call('HSET', DEAD_LETTERS, dead_letter, table.concat({ to_digits(dead_at), to_digits(due),
    to_digits(failures), to_digits(entry.lapses), to_digits(expiry), to_digits(lane) .. length, to_digits(#cause),
    to_digits(#first), group .. cause .. first .. (redis.call('HGET', MESSAGES, id) or '') }, ':'))
  redis.call('ZADD', DEAD_ORDER, to_digits(dead_at), dead_letter)
  record_dead_letter(id, dead_letter)
  return failures
end

-- LEASED -> SCHEDULED, with new attempts. Follows check_removals.
local function return_to_lane(id, entry, lane, due)
  set_attempts(id, entry)
  add_to_lane(id, lane, due)
  redis.call('HDEL', TOKENS, id)
  redis.call('ZREM', LEASED, id)
end
