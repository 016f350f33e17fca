-- dead-letter.lua: ends a lease because the message is not retried any further.
--
--   LEASED -> DEAD, and the successor SCHEDULED if there is one
--
-- The dead letter is named by the lease, so a repeated call finds it there.
--
-- Also begins the duplicate window of the message, in a call that takes the key `duplicates`.
--
-- KEYS     all of prelude.lua; unused: partitions, primary, journal
--
-- ARGV[1]  id
-- ARGV[2]  token
-- ARGV[3]  cause
-- ARGV[4]  failed  1 if this counts as one more failure, else 0
-- ARGV[5]  due     ms, of the last attempt
--
-- Returns  { refused, done }   done: 1, also for a repeated call; 0 if the message is no
--          longer the caller's and nothing changed; 3 if nothing changed as it has a duplicate
--          window: repeat the call with `duplicates`
--
-- Keeps    I1 to I6 (see schedule.lua)
-- Cost     O(log N)

local id, dead_letter = ARGV[1], ARGV[1] .. '~' .. ARGV[2]
if not holds(id, ARGV[2]) then return { 0, redis.call('HEXISTS', DEAD_LETTERS, dead_letter) } end

local now, window = clock(), window_of(id)
if window and not DUPLICATES then return { 0, 3 } end
check_removals()
check_permissions()
if window and redis.call('HGET', SUCCESSORS, id) ~= 'C' then start_window(id, window, now) end
add_dead_letter(id, dead_letter, ARGV[3], math.floor(now / 1000), tonumber(ARGV[5]), tonumber(ARGV[4]))
local due = finish_and_start_successor(id)
clear_wake_mark()
return { due and wake_if_earlier(due, now) or 0, 1 }
