-- dead-letters.lua: reads a page of dead letters, the latest first; changes nothing.
--
-- A page begins after the time and name where the previous one ended, whether or not that
-- dead letter is here: it may be gone, or in another partition of the queue.
--
-- KEYS     all of prelude.lua; used: dead-order, dead-letters
--
-- ARGV[1]  dead letter where the previous page ended, '' for the first page
-- ARGV[2]  time at which it was dead-lettered, ms
-- ARGV[3]  limit  1..101: one more than the page, to know whether it is the last; 0 for the
--          dead letter itself and no page
-- ARGV[4]  bytes  that are returned of each content, from its beginning; absent for all
--
-- Returns  { dead_letter, dead_at, content, dead_letter, dead_at, content, ..., more }
--          dead_at: its score, ms; content: see add_dead_letter in prelude-settlements.lua;
--          another writer may have stored anything in these;
--          more: '' if the page ends early, as contents are large; else missing
--
-- Keeps    all invariants, as it changes nothing
-- Cost     O(limit + log N * log M), N dead letters, M of them of one millisecond; answers
--          with 1 MiB, or with one dead letter

if ARGV[3] == '0' then
  local content = redis.call('HGET', DEAD_LETTERS, ARGV[1])
  return content and { ARGV[1], '0', content } or {}
end

local start = 0
if ARGV[1] ~= '' then
  start = redis.call('ZCOUNT', DEAD_ORDER, '(' .. ARGV[2], '+inf')
  local stop = redis.call('ZCOUNT', DEAD_ORDER, ARGV[2], '+inf')
  while start < stop do -- those of one millisecond are in order of names, the last one first
    local middle = math.floor((start + stop) / 2)
    local dead_letter = redis.call('ZREVRANGE', DEAD_ORDER, middle, middle)[1]
    if precedes(dead_letter, ARGV[1]) then stop = middle else start = middle + 1 end
  end
end
local found = redis.call('ZREVRANGE', DEAD_ORDER, start, start + tonumber(ARGV[3]) - 1, 'WITHSCORES')
if #found == 0 then return {} end
local reply, size = {}, 0
for i = 1, #found, 2 do
  size = size + redis.call('HSTRLEN', DEAD_LETTERS, found[i])
  if i > 1 and size > BYTES then
    reply[#reply + 1] = ''
    return reply
  end
  local at = #reply
  reply[at + 1], reply[at + 2] = found[i], found[i + 1]
  local content = redis.call('HGET', DEAD_LETTERS, found[i]) or ''
  reply[at + 3] = ARGV[4] and string.sub(content, 1, tonumber(ARGV[4])) or content
end
return reply
