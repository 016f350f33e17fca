-- prelude-activity-minutes.lua: begins a minute of activity; see prelude.lua.

local NODE_KEPT = 10 -- minutes for which the number of a node's last report is kept while others report

-- At the first report of a minute, removes minutes that a step of the clock has put into the
-- future, nodes that are gone, and queues that nodes no longer report.
local function begin_minute(minute)
  local last = tonumber(redis.call('HGET', ACTIVITY, 'last') or 0)
  if last == minute then return end
  for at = math.max(minute + 1, last - MINUTES + 1), last do
    if row_of('', at) then redis.call('HDEL', ACTIVITY, row_name(at)) end
    if row_of('t', at) then redis.call('HDEL', ACTIVITY, 't' .. row_name(at)) end
  end
  local nodes, queues = redis.call('HGETALL', ACTIVITY_NODES), redis.call('HGETALL', ACTIVITY_QUEUES)
  for i = 1, #nodes, 2 do
    local number, seen = string.match(nodes[i + 1], '^(%d+) (%d+)$')
    seen = tonumber(seen)
    if not seen or (last > 0 and math.abs(last - seen) > NODE_KEPT) then
      redis.call('HDEL', ACTIVITY_NODES, nodes[i])
    elseif minute - last ~= 1 then -- no node has reported meanwhile, which does not count; all may send again
      redis.call('HSET', ACTIVITY_NODES, nodes[i], number .. ' ' .. to_digits(last > 0 and seen + minute - last - 1 or minute))
    end
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
