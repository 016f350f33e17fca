-- prelude-skips.lua: counts the occurrences of schedules that are skipped; see prelude.lua.

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
