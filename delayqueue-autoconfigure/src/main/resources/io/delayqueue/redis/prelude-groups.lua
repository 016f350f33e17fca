-- prelude-groups.lua: keeps the messages of a group in order; see prelude.lua.

-- Returns the member of `waiting` for a message. No group and no id holds a blank.
local function waiting_member(group, due, id)
  return group .. ' ' .. string.format('%015.0f', due) .. ':' .. id
end

-- Returns whether one id precedes another, by bytes as in a sorted set; `<` uses the locale.
local function precedes(one, other)
  for i = 1, math.min(#one, #other) do
    local a, b = string.byte(one, i), string.byte(other, i)
    if a ~= b then return a < b end
  end
  return #one < #other
end

-- Returns functions that only messages of a group need; created on demand, as each function
-- that a script has costs it time in every call.
local function groups()
  -- Returns whether a message replaces the head of its group: if that waits and its turn is
  -- later, or if it is lost. A head that waits for another time than its own was given back,
  -- and stays the head.
  local function gives_way(head, id, due)
    if redis.call('ZSCORE', LEASED, head) then return false end
    local due_head, _, lane = details_of(head)
    local waits = due_in_lane(head, lane)
    if not waits then return true end
    if due_head ~= waits then return false end
    return due < due_head or due == due_head and precedes(id, head)
  end

  -- Returns whether a message waits behind the head of its group, and adds it to `waiting`.
  -- Otherwise makes it the head, which the caller adds to its lane.
  local function wait_behind_head(id, due, group)
    local head = redis.call('HGET', GROUP_HEADS, group)
    if head and not gives_way(head, id, due) then
      redis.call('ZADD', WAITING, 0, waiting_member(group, due, id))
      return true
    end
    if head then
      local due_head, _, lane_head = details_of(head)
      if remove_from_lane(head, lane_head) == 1 then
        redis.call('ZADD', WAITING, 0, waiting_member(group, due_head, head))
      end
    end
    redis.call('HSET', GROUP_HEADS, group, id)
    return false
  end

  -- Removes a message that is in no lane and not leased from its group. If it was the head,
  -- the message whose turn is next becomes the head; returns when that one is due.
  local function leave_group(id, due, group)
    if redis.call('HGET', GROUP_HEADS, group) ~= id then
      redis.call('ZREM', WAITING, waiting_member(group, due, id))
      return nil
    end
    local first = redis.call('ZRANGE', WAITING, '[' .. group .. ' ', '(' .. group .. '!', 'BYLEX', 'LIMIT', 0, 1)[1]
    if not first then
      redis.call('HDEL', GROUP_HEADS, group)
      return nil
    end
    local next_id, next_due = string.sub(first, #group + 18), tonumber(string.sub(first, #group + 2, #group + 16)) or 0
    local _, _, lane = details_of(next_id)
    redis.call('ZREM', WAITING, first)
    redis.call('HSET', GROUP_HEADS, group, next_id)
    add_to_lane(next_id, lane, next_due)
    return next_due
  end

  return { wait_behind_head = wait_behind_head, leave_group = leave_group }
end
