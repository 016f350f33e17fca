-- declare-schedules.lua: records which definitions of schedules a node declares, answers which of them apply, and
-- removes schedules that no node declares.
--
-- The definition of a schedule that was first seen latest applies, of those declared within 150 s.
-- A definition is known for an hour after its last declaration, and not less than the application has had live
-- nodes without a gap of 150 s: so what is not declared during an outage is neither forgotten nor removed.
--
-- KEYS     all of prelude.lua, those of schedules too; used: wake, schedules, schedule-times,
--          schedule-skips, schedule-declarations, schedule-owners, firing-node
--
-- ARGV[1]  owner        the application
-- ARGV[2]  removes      1 to remove its schedules that none has declared for an hour, else 0
-- ARGV from [3] on, for each declaration:
--   +0  name
--   +1  fingerprint  of the definition
--
-- Returns  { refused, { answer, ... }, { name, ... } }   refused: 1 if this user may not publish; answer: 'WINS',
--          'OUTDATED' if another definition applies, 'FOREIGN' if another application declares the name;
--          then the names of removed schedules
--
-- Keeps    S1 to S3 (see fire-schedules.lua)
-- Cost     O(M log N), M declared schedules, N schedules

local LIVE, KEPT, DEFINITIONS = 150000, 3600000, 20
local now = math.floor(clock() / 1000)
local owner, removes = ARGV[1], ARGV[2] == '1'

-- Since when the application has had live nodes.
local since, last_call = string.match(redis.call('HGET', SCHEDULE_OWNERS, owner) or '', '^(%d+):(%d+)$')
since = tonumber(since)
if not since or now - tonumber(last_call) > LIVE then since = now end

-- Returns whether a declaration is remembered.
local function is_known(last)
  return now - last <= KEPT or now - since < KEPT
end

local function declare(name, fingerprint)
  local entry = redis.call('HGET', DECLARATIONS, name) or ''
  local other, last_declared = last_declaration(entry)
  if other and other ~= owner then
    if now - last_declared <= KEPT then return 'FOREIGN' end
    entry = ''
  end
  local known, seen, applies = {}, now, true
  for each, first in string.gmatch(entry, '(%w+),(%d+),%d+') do
    if each == fingerprint then seen = tonumber(first) end
  end
  for each, first, last in string.gmatch(entry, '(%w+),(%d+),(%d+)') do
    first, last = tonumber(first), tonumber(last)
    if each ~= fingerprint and is_known(last) then
      known[#known + 1] = table.concat({ each, to_digits(first), to_digits(last) }, ',')
      local later = first > seen or first == seen and each > fingerprint
      if later and now - last <= LIVE then applies = false end
    end
  end
  known[#known + 1] = table.concat({ fingerprint, to_digits(seen), to_digits(now) }, ',')
  while #known > DEFINITIONS do table.remove(known, 1) end
  redis.call('HSET', DECLARATIONS, name, owner .. ' ' .. table.concat(known, ' '))
  return applies and 'WINS' or 'OUTDATED'
end

local function remove(name)
  redis.call('HDEL', DECLARATIONS, name)
  local schedule = schedule_of(name)
  if not schedule or string.match(schedule.rest, '^(%S*) ') ~= owner then return false end
  redis.call('ZREM', SCHEDULE_TIMES, name)
  redis.call('HDEL', SCHEDULES, name)
  redis.call('HDEL', SCHEDULE_SKIPS, name)
  return true
end

local answers, declared, removed = {}, {}, {}
for at = 3, #ARGV, 2 do
  declared[ARGV[at]] = true
  answers[#answers + 1] = declare(ARGV[at], ARGV[at + 1])
end
redis.call('HSET', SCHEDULE_OWNERS, owner, to_digits(since) .. ':' .. to_digits(now))
if removes and now - since >= KEPT then
  local entries = redis.call('HGETALL', DECLARATIONS)
  for i = 1, #entries, 2 do
    local application, last_declared = last_declaration(entries[i + 1])
    local own = application == owner and not declared[entries[i]]
    if own and not is_known(last_declared) and remove(entries[i]) then removed[#removed + 1] = entries[i] end
  end
end
if redis.call('EXISTS', SCHEDULES) == 0 then
  redis.call('DEL', FIRING_NODE)
  if redis.call('EXISTS', DECLARATIONS) == 0 then redis.call('DEL', SCHEDULE_OWNERS) end
end
return { #removed > 0 and publish_schedules() or 0, answers, removed }
