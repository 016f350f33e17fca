-- count-periodic.lua: counts the periodic messages of some members of a scheduled set.
--
-- KEYS[1] to [5]  those of prelude.lua
-- KEYS[6]  __rq::d-queue::{q}   ZSET, message -> due time, ms
--
-- ARGV[1]  ''
-- ARGV[2]  first    rank of the first member
-- ARGV[3]  limit    number of members
--
-- Returns  { number of periodic members, number of members }
-- Keeps    M1 to M3; reads only
-- Cost     O(log N + n), n members

-- prelude
local first, limit = tonumber(ARGV[2]), tonumber(ARGV[3])
local members = redis.call('ZRANGE', KEYS[6], first, first + limit - 1)
local periodic = 0
for _, member in ipairs(members) do
  if is_periodic(member) then periodic = periodic + 1 end
end
return { periodic, #members }
