-- resign-primary.lua: ends a node's role as the primary poller of a partition.
--
-- No message changes its state: standby nodes poll at due times until one has the role. No node
-- polls at the time of the wake mark, so it is removed and senders wake the others again.
--
-- KEYS     all of prelude.lua; used: wake, primary
--
-- ARGV[1]  node  as in claim.lua
--
-- Returns  { done }   1, or 0 if another node or none is the primary poller
--
-- Keeps    I1 to I6 (see schedule.lua)
-- Cost     O(1)

local owner = string.match(redis.call('GET', PRIMARY) or '', '^%w+')
if owner ~= ARGV[1] then return { 0 } end
redis.call('DEL', PRIMARY, WAKE)
redis.pcall('PUBLISH', WAKE, 'v')
return { 1 }
