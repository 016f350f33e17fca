-- prelude-activity-queues.lua: gives queues their places in the minutes of activity; see prelude.lua.

local PLACES = 200
local UNUSED = 360 -- minutes without a report, after which the place of a queue is free. Its cells of
                   -- the last three hours have no counts then, but backlogs, so readers of the next
                   -- queue ignore the minutes before it got the place
local NODE_KEPT = 10 -- minutes for which the number of a node's last report is kept
local REFRESH = 5 -- minutes, after which the time of a queue's report is written again

local function add_queue_entry(queue, place, since, minute)
  redis.call('HSET', ACTIVITY_QUEUES, queue, table.concat({ to_digits(place), to_digits(since), to_digits(minute) }, ' '))
end

-- At the first report of a minute, removes minutes that a step of the clock has put into the
-- future, nodes that are gone, and queues that nodes no longer report.
local function begin_minute(minute)
  local last = tonumber(redis.call('HGET', ACTIVITY, 'last') or 0)
  if last == minute then return end
  for at = minute + 1, math.min(last, minute + MINUTES) do
    redis.call('HDEL', ACTIVITY, row_name(at), 't' .. row_name(at))
  end
  local nodes, queues = redis.call('HGETALL', ACTIVITY_NODES), redis.call('HGETALL', ACTIVITY_QUEUES)
  for i = 1, #nodes, 2 do
    local seen = tonumber(string.match(nodes[i + 1], ' (%d+)$') or 0)
    if math.abs(minute - seen) > NODE_KEPT then redis.call('HDEL', ACTIVITY_NODES, nodes[i]) end
  end
  for i = 1, #queues, 2 do
    local _, _, reported = queue_entry(queues[i + 1])
    if math.abs(minute - (reported or 0)) > UNUSED then redis.call('HDEL', ACTIVITY_QUEUES, queues[i]) end
  end
  redis.call('HSET', ACTIVITY, 'last', to_digits(minute))
  redis.pcall('PEXPIRE', ACTIVITY, (MINUTES + 1) * 60000)
  redis.pcall('PEXPIRE', ACTIVITY_QUEUES, (UNUSED + 1) * 60000)
  redis.pcall('PEXPIRE', ACTIVITY_NODES, (UNUSED + 1) * 60000)
end

-- Returns the places by queue. Gives free ones to queues that have none.
local function places_of(queues, minute)
  local places, without = {}, {}
  if #queues == 0 then return places end
  for i, entry in ipairs(redis.call('HMGET', ACTIVITY_QUEUES, unpack(queues))) do
    local place, since, reported = queue_entry(entry)
    places[queues[i]] = place
    if not place then
      without[#without + 1] = queues[i]
    elseif since > minute or math.abs(minute - reported) >= REFRESH then
      add_queue_entry(queues[i], place, math.min(since, minute), minute)
    end
  end
  if #without == 0 then return places end
  local used, all, free = {}, redis.call('HGETALL', ACTIVITY_QUEUES), 0
  for i = 2, #all, 2 do used[queue_entry(all[i]) or -1] = true end
  for _, queue in ipairs(without) do
    while used[free] do free = free + 1 end
    if free >= PLACES then break end
    used[free], places[queue] = true, free
    add_queue_entry(queue, free, minute, minute)
  end
  return places
end
