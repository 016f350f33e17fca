-- statistics.lua: counts the messages of a partition; changes nothing.
--
-- Leases that ran out count as due; the next claim ends them. Messages that wait in their
-- group are scheduled and not due.
--
-- KEYS  see prelude.lua, all
--
-- Returns  { scheduled, due, leased, dead, next_due, followers, lapsed, pause, version, now }
--          next_due: ms, '' if none waits; pause: '' for none, or one that is over, else as in
--          the record; version: of the partitions; now: microseconds
--
-- Cost     O(log N)

local now = clock()
local now_ms = digits(math.floor(now / 1000))
local lapsed = redis.call('ZCOUNT', LEASED, '-inf', digits(now))
local followers = redis.call('ZCARD', FOLLOWERS)
local scheduled, due, next_due = lapsed + followers, lapsed, nil
for _, key in ipairs(lanes_in_use()) do
  scheduled = scheduled + redis.call('ZCARD', key)
  due = due + redis.call('ZCOUNT', key, '-inf', now_ms)
  local head = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  if head[2] then next_due = math.min(next_due or math.huge, math.ceil(tonumber(head[2]))) end
end
if lapsed > 0 then
  local first = redis.call('ZRANGE', LEASED, 0, 0, 'WITHSCORES')
  next_due = math.min(next_due or math.huge, math.floor(tonumber(first[2]) / 1000))
end
local partitions, pause = redis.call('GET', PARTITIONS), ''
local ends = pause_end(partitions or '')
if ends and ends > tonumber(now_ms) then pause = ends < 1e15 and 'p' .. digits(ends) or 'p' end
return { scheduled, due, redis.call('ZCARD', LEASED) - lapsed, redis.call('ZCARD', DEAD),
  next_due and digits(next_due) or '', followers, lapsed, pause, version_of(partitions), now }
