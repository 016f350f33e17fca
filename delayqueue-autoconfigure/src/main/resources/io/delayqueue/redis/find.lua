-- find.lua: reads a message; changes nothing.
--
-- A lease that ran out is shown as ended: the message SCHEDULED, or its successor, or nothing
-- if it was cancelled.
--
-- KEYS     all of prelude.lua; unused: wake, tokens, dead-order, dead-letters, group-heads,
--          primary, revisions, changes, journal
--
-- ARGV[1]  id
-- ARGV[2]  version  of the caller's layout of partitions, '' to skip the check
--
-- Returns  {} if the partition does not hold it, else { state, time, attempts, details, value };
--          or the error DQSTALE
--          state: 'S' with its due time, ms, or 'L' with the end of its lease, microseconds;
--          attempts and details: as stored, '' for none; value: stamp + envelope
--
-- Keeps    all invariants, as it changes nothing
-- Cost     O(1)

local id, refusal = ARGV[1], reject_stale_layout(ARGV[2])
if refusal then return refusal end
local value = redis.call('HGET', MESSAGES, id)
if not value then return {} end
local attempts = redis.call('HGET', ATTEMPTS, id) or ''
local details = redis.call('HGET', DETAILS, id) or ''
local deadline = redis.call('ZSCORE', LEASED, id)
if not deadline then
  local due = waits_until(id)
  return { 'S', to_digits(due or 0), attempts, details, value }
elseif tonumber(deadline) > clock() then
  return { 'L', deadline, attempts, details, value }
end
local due, expiry, lane, group, successor = successor_of(id)
if due then
  return { 'S', to_digits(due), '', to_details(due, expiry, lane, group), successor }
elseif redis.call('HEXISTS', SUCCESSORS, id) == 1 then
  return {}
end
-- See lapse in prelude-leases.lua.
local original = not string.match(attempts, '^0*[1-9]') and from_details(details)
return { 'S', to_digits(original or math.floor(tonumber(deadline) / 1000)), attempts, details, value }
