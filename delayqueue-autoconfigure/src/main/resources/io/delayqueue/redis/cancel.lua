-- cancel.lua: removes a message before it is handled.
--
--   SCHEDULED -> gone      what is next in its group into its lane
--   LEASED    -> LEASED   it will not be retried, and a successor is removed
--
-- A lease that ran out is ended first. The duplicate window of the id ends, unless a message of the
-- id is leased, which will begin none.
--
-- KEYS     all of prelude.lua; unused: primary, journal
--
-- ARGV[1]  id
-- ARGV[2]  version   of the sender's layout of partitions, '' to skip the check
-- then, from a journal:
-- ARGV[3]  deadline  microseconds, after which the call is rejected
-- ARGV[4]  revision  of this request; a message of a later one is not found, and a successor of
--          a later one is kept
-- ARGV[5]  keep      ms, for which void messages are kept out; '' for none
-- ARGV[6]  void      revisions that this request makes void, with blanks between them: they are kept out
--          although the queue has lost them, as another node may have read their rows
--
-- Returns  { refused, outcome }, or the error DQSTALE or DQLATE
--          outcome: 0 cancelled, 1 leased, 2 not found
--
-- Keeps    I1 to I6 (see schedule.lua)
-- Cost     O(log N)

local id, now = ARGV[1], clock()
local refusal = reject_stale_layout(ARGV[2]) or reject_late(ARGV[3], now)
if refusal then return refusal end
if ARGV[6] and ARGV[6] ~= '' then
  check_removals()
  keep_out(id, ARGV[6], ARGV[5], now)
end
local leased = expire_lease_if_over(id, now)
-- After that, as the successor has another revision than the message that it follows.
if ARGV[4] and tonumber(redis.call('HGET', REVISIONS, id) or 0) > tonumber(ARGV[4]) then return { 0, 2 } end
if leased then
  -- prelude
  if has_later_successor(id, ARGV[4]) then return { 0, 1 } end
  check_removals()
  record_successor_end(id)
  if window_of(id) then redis.call('HDEL', REVISIONS, id) end
  redis.call('HSET', SUCCESSORS, id, 'C')
  return { 0, 1 }
end
if DUPLICATES then redis.call('ZREM', DUPLICATES, id) end
if redis.call('HEXISTS', MESSAGES, id) == 0 then
  clear_wake_mark()
  return { 0, 2 }
end
-- Where none of these exists, all messages are plain, without any other entry.
if redis.call('EXISTS', DETAILS, ATTEMPTS, TOKENS, SUCCESSORS, REVISIONS) == 0 then
  redis.call('HDEL', MESSAGES, PROBE)
  redis.call('ZREM', SCHEDULED, id)
  redis.call('HDEL', MESSAGES, id)
  clear_wake_mark()
  return { 0, 0 }
end
local _, _, lane, group = details_of(id)
check_removals()
if group ~= '' then
  -- prelude
  check_permissions()
end
remove_from_lane(id, lane)
local due = delete_messages({ id })
clear_wake_mark()
return { due and wake_if_earlier(due, now) or 0, 0 }
