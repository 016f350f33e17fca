-- prelude-schedules.lua: reads and writes schedules; see prelude.lua.

-- Returns the state of a schedule as a table of texts; nil if there is none. `rest`: owner and definition.
local function schedule_of(name)
  local generation, next, last, tail, ahead, sent, state, rest =
    string.match(redis.call('HGET', SCHEDULES, name) or '', '^(%d+):(%d+):(%d+):(%d+):(%d+):(%d+):(%a):(.*)$')
  return generation and { generation = generation, next = next, last = last, tail = tail, ahead = ahead,
    sent = sent, state = state, rest = rest }
end

-- Returns whether a schedule is in the state that a caller has read.
local function is_expected(schedule, generation, next, last)
  return schedule.generation == generation and schedule.next == next and schedule.last == last
end

-- Returns the score of a schedule by its next time.
local function score_of(next)
  return next == '0' and NEVER or next
end

-- Stores a schedule that has advanced.
local function set_schedule(name, schedule)
  redis.call('HSET', SCHEDULES, name, table.concat({ schedule.generation, schedule.next, schedule.last, schedule.tail,
    schedule.ahead, schedule.sent, schedule.state, schedule.rest }, ':'))
  redis.call('ZADD', SCHEDULE_TIMES, score_of(schedule.next), name)
end

-- Lets nodes try a schedule again later that one could not read; `schedule`: nil if its state is not readable.
local function postpone(name, schedule, now_ms)
  local score = math.max(now_ms + RETRY, schedule and tonumber(score_of(schedule.next)) or 0)
  redis.call('ZADD', SCHEDULE_TIMES, 'XX', to_digits(score), name)
  return 'postponed'
end

-- Counts skipped occurrences, and adds them to the last skips. Extends the latest one if that has
-- the same reason, and no occurrence was sent in between; `last`: time of the last one that was.
local function record_skip(name, reason, first, to, count, last)
  local totals, skips, before = {}, {}, 0
  for entry in string.gmatch(redis.call('HGET', SCHEDULE_SKIPS, name) or '', '%S+') do
    local other, total = string.match(entry, '^(%u[%u_]*)=(%d+)$')
    if other == reason then before = tonumber(total) elseif other then totals[#totals + 1] = entry
    else skips[#skips + 1] = entry end
  end
  totals[#totals + 1] = reason .. '=' .. to_digits(before + count)
  local latest, since, _, number = string.match(skips[1] or '', '^(%u[%u_]*),(%d+),(%d+),(%d+)$')
  if latest == reason and tonumber(last) < tonumber(since) then
    first, count = since, tonumber(number) + count
    table.remove(skips, 1)
  end
  table.insert(skips, 1, table.concat({ reason, first, to, to_digits(count) }, ','))
  for i = #skips, SKIPS + 1, -1 do skips[i] = nil end
  redis.call('HSET', SCHEDULE_SKIPS, name, table.concat(totals, ' ') .. ' ' .. table.concat(skips, ' '))
end

-- Notifies the nodes that a schedule was changed. Returns 1 if this user may not publish, else 0.
local function publish_schedules()
  local reply = redis.pcall('PUBLISH', WAKE, 's')
  return type(reply) == 'table' and reply.err and 1 or 0
end
