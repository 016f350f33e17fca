-- schedules.lua: reads one schedule, or some in the order of their next times; changes nothing.
--
-- A page begins after the position where the previous one ended, whether or not that schedule
-- is still there.
--
-- KEYS     all of prelude.lua, those of schedules too; used: schedules, schedule-times,
--          schedule-skips, schedule-declarations
--
-- ARGV[1]  limit  1..100 schedules; 0 for the one called `name`
-- ARGV[2]  name   of the schedule, or of the last one of the previous page
-- ARGV[3]  score  of that one, '' for the first page
--
-- Returns  { now, score, name, state, skips, declared, name, state, skips, declared, ... }
--          now: microseconds; score: of the last schedule if more follow, else '', as a time: a score that is
--          none is rounded up, and after one beyond NEVER the list ends; state, skips: as stored, '' for none;
--          declared: ms, when a node of its owner declared it last, '' for never
--
-- Keeps    all, as it changes nothing
-- Cost     O(limit * log N + log N * log M), N schedules, M of them of one time; answers with 1 MiB

local limit, name, score = tonumber(ARGV[1]), ARGV[2], ARGV[3]

-- Returns how many schedules precede the page; those of one time are in order of names.
local function passed()
  if score == '' then return 0 end
  local start = redis.call('ZCOUNT', SCHEDULE_TIMES, '-inf', '(' .. score)
  local stop = redis.call('ZCOUNT', SCHEDULE_TIMES, '-inf', score)
  while start < stop do
    local middle = math.floor((start + stop) / 2)
    local member = redis.call('ZRANGE', SCHEDULE_TIMES, middle, middle)[1]
    if precedes(name, member) then stop = middle else start = middle + 1 end
  end
  return start
end

local function declared(each, owner)
  local application, last = last_declaration(redis.call('HGET', DECLARATIONS, each) or '')
  return application == owner and to_digits(last) or ''
end

local names, stop = { name }, 1
if limit > 0 then
  local start = passed()
  names = redis.call('ZRANGE', SCHEDULE_TIMES, start, start + limit)
  stop = math.min(limit, #names)
end
local reply, bytes, read = { clock(), '' }, 0, 0
while read < stop and bytes <= BYTES do
  read = read + 1
  local each = names[read]
  local state = stored_state(each)
  local owner = string.match(state, '^[%d:]+:[ap]:(%S*) ')
  local at = #reply
  reply[at + 1], reply[at + 2] = each, state
  reply[at + 3] = redis.call('HGET', SCHEDULE_SKIPS, each) or ''
  reply[at + 4] = owner and owner ~= '' and declared(each, owner) or ''
  bytes = bytes + #state
end
local last = read < #names and tonumber(redis.call('ZSCORE', SCHEDULE_TIMES, names[read])) or math.huge
if last <= tonumber(NEVER) then reply[2] = to_digits(math.max(1, math.ceil(last))) end
return reply
