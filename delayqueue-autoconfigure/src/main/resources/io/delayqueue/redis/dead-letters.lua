-- dead-letters.lua: reads a page of dead letters, the latest death first; changes nothing.
--
-- KEYS  see prelude.lua, all
--
-- ARGV[1]  letter where the page before ended, '' for the first page
-- ARGV[2]  time of its death, ms; tells where to go on if it is gone
-- ARGV[3]  limit  1..101: one more than the page, to know whether it is the last
--
-- Returns  { letter, content, letter, content, ... }   content: see bury in prelude.lua
--
-- Cost     O(limit + log N), N dead letters

local start = 0
if ARGV[1] ~= '' then
  local rank = redis.call('ZREVRANK', DEAD, ARGV[1])
  start = rank and rank + 1 or redis.call('ZCOUNT', DEAD, '(' .. ARGV[2], '+inf')
end
local letters = redis.call('ZREVRANGE', DEAD, start, start + tonumber(ARGV[3]) - 1)
if #letters == 0 then return {} end
local contents = redis.call('HMGET', LETTERS, unpack(letters))
local reply = {}
for i, letter in ipairs(letters) do
  reply[#reply + 1], reply[#reply + 2] = letter, contents[i] or ''
end
return reply
