-- prelude-lanes.lua: adds messages to lanes, removes and finds them; see prelude.lua.

-- Returns the sorted set of a lane, and the difference of its scores to due times.
local function lane_of(priority)
  if priority == NORMAL then return SCHEDULED, 0 end
  return PRIORITIES, (priority > NORMAL and 9 - priority or 8 - priority) * LANE
end

-- Returns the priority of a lane of PRIORITIES by a score, and the difference to due times.
-- Other producers may have given any score.
local function lane_at(score)
  local lane = math.max(0, math.min(8, math.floor(score / LANE)))
  return lane < 5 and 9 - lane or 8 - lane, lane * LANE
end

local function add_to_lane(id, priority, due)
  local key, offset = lane_of(priority)
  redis.call('ZADD', key, to_digits(offset + due), id)
end

local function remove_from_lane(id, priority)
  local key = lane_of(priority)
  return redis.call('ZREM', key, id)
end

-- Returns the due time, ms, of a message in its lane; nil if it is not there.
local function due_in_lane(id, priority)
  local key, offset = lane_of(priority)
  local score = redis.call('ZSCORE', key, id)
  return score and tonumber(score) - offset or nil
end

-- Returns the lanes in which messages may be, the highest first: each with the sorted set, the
-- difference of its scores to due times, and the bounds of its scores.
local function lanes_in_use()
  if redis.call('EXISTS', PRIORITIES) == 0 then return { { SCHEDULED, 0, '-inf', '+inf' } } end
  local lanes = {}
  for priority = 9, 0, -1 do
    local key, offset = lane_of(priority)
    local normal = key == SCHEDULED
    lanes[#lanes + 1] = { key, offset, (normal or offset == 0) and '-inf' or to_digits(offset),
      (normal or priority == 0) and '+inf' or '(' .. to_digits(offset + LANE) }
  end
  return lanes
end
