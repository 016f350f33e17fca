-- prelude-schedules.lua: reads and writes schedules; see prelude.lua.

-- Returns the stored text of a schedule; UNREADABLE if that is empty, or there is only a time; '' if there is none.
local function stored_state(name)
  local state = redis.call('HGET', SCHEDULES, name)
  if state and state ~= '' then return state end
  return (state or redis.call('ZSCORE', SCHEDULE_TIMES, name)) and UNREADABLE or ''
end

-- Returns the state of a schedule as a table of texts; nil if there is none, or ScheduleState.java cannot read it,
-- whose form this repeats. `rest`: owner and definition.
local function schedule_of(name)
  local numbers, state, rest = string.match(redis.call('HGET', SCHEDULES, name) or '', '^([%d:]+):([ap]):(%S* .*)$')
  local fields = { string.match(numbers or '', '^(%d+):(%d+):(%d+):(%d+):(%d+):(%d+)$') }
  if not fields[1] or fields[1] == '0' then return nil end
  for i, digits in ipairs({ 16, 15, 15, 15, 4, 16 }) do
    if #fields[i] > digits or string.match(fields[i], '^0%d') then return nil end
  end
  return { generation = fields[1], next = fields[2], last = fields[3], tail = fields[4], ahead = fields[5],
    sent = fields[6], state = state, rest = rest }
end

-- Returns whether a schedule is in the state that a caller has read.
local function is_expected(schedule, generation, next, last)
  return schedule.generation == generation and schedule.next == next and schedule.last == last
end

-- Returns the application of an entry of schedule-declarations, and when one of its nodes declared the schedule
-- last, ms.
local function last_declaration(entry)
  local latest = 0
  for last in string.gmatch(entry, '%w+,%d+,(%d+)') do latest = math.max(latest, tonumber(last)) end
  return string.match(entry, '^(%S+)'), latest
end

-- Returns the score of a schedule by its next time.
local function score_of(next)
  return next == '0' and NEVER or next
end

-- Moves a schedule. After a skip as BACKLOG the tail stays until it is handled, as no occurrence after it is stored.
local function advance(schedule, outcome, next, tail, ahead)
  local waits = outcome == 'BACKLOG'
  schedule.next, schedule.tail = next, waits and schedule.tail or tail
  schedule.ahead = waits and BACKLOGGED or ahead
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
