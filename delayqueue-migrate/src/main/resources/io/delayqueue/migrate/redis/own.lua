-- own.lua: makes this process the owner of the queue, or extends that.
--
-- KEYS[1] to [5]  those of prelude.lua
--
-- ARGV[1]  token
--
-- Returns  1, or the error MIGRATEOWNER
-- Keeps    M1 to M3; changes no entry
-- Cost     O(1)

-- prelude
local refusal = refuse_other_owner()
if refusal then return refusal end
-- Removes nothing, but lets a full Redis accept the write that follows.
redis.call('SREM', PENDING, '')
stay_owner()
return 1
