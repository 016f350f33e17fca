-- resign-firing-node.lua: ends that a node fires the schedules of a queue first, and notifies the others.
--
-- KEYS     all of prelude.lua, those of schedules too; used: wake, firing-node
--
-- ARGV[1]  node
--
-- Returns  { done }   1, or 0 if it was not the firing node
--
-- Keeps    S1 to S3 (see fire-schedules.lua)
-- Cost     O(1)

if string.match(redis.call('GET', FIRING_NODE) or '', '^%S+') ~= ARGV[1] then return { 0 } end
redis.call('DEL', FIRING_NODE)
publish_schedules()
return { 1 }
