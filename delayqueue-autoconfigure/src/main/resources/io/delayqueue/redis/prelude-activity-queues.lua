-- prelude-activity-queues.lua: gives queues their places in the minutes of activity; see prelude.lua.

local PLACES = 200
local UNUSED = 360 -- minutes without a report, after which the place of a queue is free. Its cells of
                   -- the last three hours have no counts then, but backlogs, so readers of the next
                   -- queue ignore the minutes before it got the place
local REFRESH = 5 -- minutes, after which the time of a queue's report is written again

-- Adds a field, or replaces it. The key may be new, so a new field makes it expire.
local function put_entry(key, field, entry)
  if redis.call('HSET', key, field, entry) == 1 then redis.pcall('PEXPIRE', key, (UNUSED + 1) * 60000) end
end

local function add_queue_entry(queue, place, since, minute)
  put_entry(ACTIVITY_QUEUES, queue, table.concat({ to_digits(place), to_digits(since), to_digits(minute) }, ' '))
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
