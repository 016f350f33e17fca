-- prelude-messages.lua: stores and deletes messages; see prelude.lua.

-- Returns when a waiting message is due, and whether it is in its lane; nil if it is not there.
local function waits_until(id)
  local due, _, lane, group = details_of(id)
  local waits = due_in_lane(id, lane)
  if waits then return math.ceil(waits), true end
  if group ~= '' and redis.call('ZSCORE', WAITING, waiting_member(group, due, id)) then return due, false end
  return nil, false
end

-- Adds a message to its lane or, if its group has a head that stays, to `waiting`. Returns
-- its due time, nil if it is not its turn.
local function add_to_lane_or_group(id, due, lane, group)
  if group ~= '' and groups().wait_behind_head(id, due, group) then return nil end
  add_to_lane(id, lane, due)
  return due
end

-- Removes all entries of messages that are no longer in a lane or leased, so that later
-- messages of these ids inherit nothing. Returns the earliest due time of the next messages in
-- their groups, nil if there are none.
local function delete_messages(ids)
  redis.call('HDEL', MESSAGES, unpack(ids))
  if redis.call('EXISTS', DETAILS, ATTEMPTS, TOKENS, SUCCESSORS, REVISIONS) == 0 then return nil end
  record_ends(ids)
  local grouped = redis.call('EXISTS', GROUP_HEADS) == 1
  local details = grouped and redis.call('HMGET', DETAILS, unpack(ids)) or {}
  redis.call('HDEL', DETAILS, unpack(ids))
  redis.call('HDEL', ATTEMPTS, unpack(ids))
  redis.call('HDEL', TOKENS, unpack(ids))
  redis.call('HDEL', SUCCESSORS, unpack(ids))
  local next_due
  for i, id in ipairs(ids) do
    local due, _, _, group = from_details(details[i])
    if group ~= '' then next_due = min_or_nil(next_due, groups().leave_group(id, due, group)) end
  end
  return next_due
end

-- Adds a message that the queue does not hold to SCHEDULED. `value`: stamp + envelope. Adds it
-- to its lane last, which the caller has tried. Returns the result of
-- add_to_lane_or_group.
local function store_message(id, value, due, expiry, lane, group)
  if expiry > 0 or lane ~= NORMAL or group ~= '' then
    redis.call('HSET', DETAILS, id, to_details(due, expiry, lane, group))
  end
  local revision = revision_of(value)
  if revision then redis.call('HSET', REVISIONS, id, revision) end
  redis.call('HSET', MESSAGES, id, value)
  return add_to_lane_or_group(id, due, lane, group)
end
