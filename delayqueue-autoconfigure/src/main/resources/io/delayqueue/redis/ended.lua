-- ended.lua: returns messages that have ended to a journal, which deletes their rows, and forgets
-- those whose rows it has deleted.
--
-- An entry is kept for a while after its row was deleted: another node may have read the row
-- before, and must not store the message again.
--
-- Counts the calls, so that a journal notices when Redis has lost data: its next call returns a
-- lower number than expected.
--
-- KEYS     all of prelude.lua; used: ended, journal
--
-- ARGV[1]  journal  identity of the caller's journal
-- ARGV[2]  limit    1..1000
-- ARGV[3]  claim    ms, for which other callers do not get the returned messages
-- ARGV[4]  keep     ms, for which entries are kept after their rows were deleted
-- then the entries of `ended` whose rows were deleted
--
-- Returns  { journal, count, backlog, entry, entry, ... }
--          journal: identity of the journal to which the partition belongs; if that is not the
--          caller's, nothing was changed; count: of calls, this one included; backlog: how many
--          entries there are
--
-- Keeps    I1 to I6 (see schedule.lua)
-- Cost     O(n log N), n entries of the call and up to 2 * limit, N entries

local now_ms = math.floor(clock() / 1000)
local identity, count = string.match(redis.call('GET', JOURNAL) or '', '^(%S+) (%d+)$')
if identity and identity ~= ARGV[1] then return { identity, tonumber(count), 0 } end
local limit = tonumber(ARGV[2])
redis.call('ZREM', ENDED, PROBE)
for i = 5, #ARGV do redis.call('ZADD', ENDED, 'XX', to_digits(-now_ms - ARGV[4]), ARGV[i]) end
local over = redis.call('ZRANGE', ENDED, '(' .. to_digits(-now_ms), '(0', 'BYSCORE', 'LIMIT', 0, limit)
if over[1] then redis.call('ZREM', ENDED, unpack(over)) end
local ended = redis.call('ZRANGE', ENDED, '0', to_digits(now_ms), 'BYSCORE', 'LIMIT', 0, limit)
for _, entry in ipairs(ended) do
  redis.call('ZADD', ENDED, 'XX', to_digits(now_ms + ARGV[3]), entry)
end
count = (count or 0) + 1
redis.call('SET', JOURNAL, ARGV[1] .. ' ' .. to_digits(count))
return { ARGV[1], count, redis.call('ZCARD', ENDED), unpack(ended) }
