-- redrive.lua: makes the message of a dead letter due now, with its attempts reset.
--
-- For a queue that was never partitioned: in others the message is sent to its partition.
--
--   DEAD -> SCHEDULED   its time to live counts from now, and so does its place in its group
--
-- KEYS     all of prelude.lua; unused: primary
--
-- ARGV[1]  dead letter
-- ARGV[2]  stamp   of the message, by which a repeated call recognizes it
-- ARGV[3]  version of the caller's layout of partitions
--
-- Returns  { refused, outcome }, or the error DQSTALE
--          outcome: 0 redriven, 1 its id is in use, 2 it has no message, 3 not found
--
-- Keeps    I1 to I6 (see schedule.lua)
-- Cost     O(log N)

local dead_letter, stamp, now = ARGV[1], ARGV[2], clock()
local id = string.match(dead_letter, '^(.*)~%d+$')
local content = redis.call('HGET', DEAD_LETTERS, dead_letter)
if not id or not content then
  local there = id and redis.call('HGET', MESSAGES, id)
  return { 0, there and string.sub(there, 1, 8) == stamp and 0 or 3 }
end
local refusal = reject_stale_layout(ARGV[3])
if refusal then return refusal end
local life, lane, length, cause, first, rest =
  string.match(content, '^[^:]*:[^:]*:%d+:%d+:(%d+):(%d)%+?(%d*):(%d+):(%d+):(.*)$')
if not rest then return { 0, 2 } end -- not readable, by another writer
local group = string.sub(rest, 1, tonumber(length) or 0)
local envelope = string.sub(rest, #group + tonumber(cause) + tonumber(first) + 9)
if envelope == '' then return { 0, 2 } end
expire_lease_if_over(id, now)
if redis.call('HEXISTS', MESSAGES, id) == 1 then return { 0, 1 } end

check_removals()
check_permissions()
record_removals({ dead_letter })
redis.call('ZREM', DEAD_ORDER, dead_letter)
redis.call('HDEL', DEAD_LETTERS, dead_letter)
local due = math.ceil(now / 1000)
local expiry = life ~= '0' and due + tonumber(life) or 0
due = store_message(id, stamp .. envelope, due, expiry, tonumber(lane), group)
return { due and wake_if_earlier(due, now) or 0, 0 }
