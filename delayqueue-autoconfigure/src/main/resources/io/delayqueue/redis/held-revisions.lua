-- held-revisions.lua: returns which messages of a journal the queue holds.
--
-- KEYS     all of prelude.lua; used: successors, revisions, changes
--
-- ARGV[1]  cursor  of a scan: '0', or that of the call before; '' to look up the messages that follow
-- then, for a look-up, for each message:
--   +0  id
--   +1  revision
--
-- Returns  for a scan      { cursor, id, revision, successor, id, revision, successor, ... }   cursor '0': the
--          last page; a negative revision is a duplicate window; successor: the revision of the one that
--          follows the message, 0 if none
--          for a look-up   { known, held, known, held, ... }
--          known: 1 if an offer of the revision would be kept out, as the queue holds this or a later
--          one, or it has ended; held: the revision of the id that the queue holds, 0 if none
--
-- Keeps    I1 to I6 (see schedule.lua), and changes nothing
-- Cost     O(n), n messages of the page, about 1,000, or of the call

if ARGV[1] ~= '' then
  local page = redis.call('HSCAN', REVISIONS, ARGV[1], 'COUNT', 1000)
  local reply, followed = { page[1] }, redis.call('EXISTS', SUCCESSORS) == 1
  for i = 1, #page[2], 2 do
    local id, revision = page[2][i], page[2][i + 1]
    reply[#reply + 1] = id
    reply[#reply + 1] = revision
    reply[#reply + 1] = followed and successor_revision(id) or '0'
  end
  return reply
end
local reply = {}
for i = 2, #ARGV, 2 do
  local id, revision = ARGV[i], tonumber(ARGV[i + 1])
  local held = math.max(0, tonumber(redis.call('HGET', REVISIONS, id) or 0)) -- a window is negative
  local known = held >= revision or redis.call('ZSCORE', CHANGES, ARGV[i + 1] .. ' ' .. id)
    or tonumber(successor_revision(id) or 0) == revision
  reply[#reply + 1], reply[#reply + 2] = known and 1 or 0, held
end
return reply
