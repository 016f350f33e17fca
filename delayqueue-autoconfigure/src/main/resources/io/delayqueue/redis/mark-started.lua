-- mark-started.lua: records that the handler of a redelivered message is about to start.
--
--   LEASED -> LEASED   should this lease run out, that counts as a lapse
--
-- Begins its writes with a removal, as all scripts but send and schedule do: when its memory is
-- full, Redis rejects a script whose first write needs some, and a full Redis must still drain.
--
-- KEYS     all of prelude.lua; used: leased, attempts, tokens, revisions,
--          changes
--
-- ARGV[1]  id
-- ARGV[2]  token
--
-- Returns  { done }   done: 1, or 0 if the message is no longer the caller's
--
-- Keeps    I1 to I6 (see schedule.lua)
-- Cost     O(1)

local id = ARGV[1]
if not holds(id, ARGV[2]) then return { 0 } end
local entry = attempts_of(id)
entry.redelivered = 2
if entry.by == '' then entry.by = 'l' end
check_removals()
set_attempts(id, entry)
return { 1 }
