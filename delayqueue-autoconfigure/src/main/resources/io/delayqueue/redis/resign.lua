-- resign.lua: ends that a node keeps a partition.
--
-- No message changes its state: the others hurry from now on, until one of them is keeper.
-- Nobody looks when the wake mark says any more, so senders wake the others again.
--
-- KEYS  see prelude.lua, all
--
-- ARGV[1]  node  as in claim.lua
--
-- Returns  { done }   1, or 0 if another keeps the partition or nobody does
--
-- Keeps    I1 to I5 (see schedule.lua)
-- Cost     O(1)

local owner = string.match(redis.call('GET', KEEPER) or '', '^%w+')
if owner ~= ARGV[1] then return { 0 } end
redis.call('DEL', KEEPER, WAKE)
redis.pcall('PUBLISH', WAKE, 'v')
return { 1 }
