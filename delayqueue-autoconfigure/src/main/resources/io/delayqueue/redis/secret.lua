-- secret.lua: reads the secret of the namespace, or stores the one given if there is none.
--
-- KEYS[4]  secret  STRING  random bytes; a setting of the namespace, in one slot with the
--                          list of queues
--
-- ARGV[1]  candidate  32 random bytes
--
-- Returns  { secret }
--
-- Keeps    I1 to I6, which are about other keys
-- Cost     O(1)

local secret = redis.call('GET', KEYS[4])
if secret then return { secret } end
redis.call('DEL', KEYS[4]) -- a full Redis rejects a script whose first write needs memory
redis.call('SET', KEYS[4], ARGV[1])
return { ARGV[1] }
