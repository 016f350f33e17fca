-- prelude.lua: the keys and functions of all scripts that take and settle entries.
--
-- KEYS[1]  entries     HASH    id -> due time, a line feed, and the member as the source wrote it;
--                              every entry that was taken and not dropped, until finish
-- KEYS[2]  pending     SET     ids that were taken and are not settled
-- KEYS[3]  unreadable  HASH    id -> reason
-- KEYS[4]  counts      HASH    taken, sent, dropped, repeated, kept, renamed -> number
-- KEYS[5]  owner       STRING  the token of the process that works on the queue, for 10 s
--
-- ARGV[1]  token       of this process
--
-- Keeps    M1  An id in `pending` or `unreadable` is in `entries`, and in one of the two only.
--          M2  An entry that the source holds is not in `entries`, and the reverse.
--          M3  taken = sent + dropped + the size of `pending` + the size of `unreadable`

local ENTRIES, PENDING, UNREADABLE, COUNTS, OWNER = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local TOKEN = ARGV[1]

-- Returns the refusal if another process works on the queue.
local function refuse_other_owner()
  local owner = redis.call('GET', OWNER)
  if owner and owner ~= TOKEN then
    return redis.error_reply('MIGRATEOWNER another process works on this queue')
  end
end

-- Extends the time for which this process owns the queue. Call it after the first removal: a
-- full Redis refuses a script whose first write needs memory.
local function stay_owner()
  redis.call('SET', OWNER, TOKEN, 'PX', 10000)
end

-- Returns what an earlier call with this batch took; nil if there was none.
local function taken_before(batch)
  local values = {}
  local value = redis.call('HGET', ENTRIES, batch .. '-1')
  while value do
    values[#values + 1] = value
    value = redis.call('HGET', ENTRIES, batch .. '-' .. (#values + 1))
  end
  return #values > 0 and values or nil
end

-- Adds an entry. Call it before the member is removed from the source.
local function add_entry(batch, values, due, member)
  local n = #values + 1
  local id = batch .. '-' .. n
  values[n] = due .. '\n' .. member
  redis.call('HSET', ENTRIES, id, values[n])
  redis.call('SADD', PENDING, id)
  redis.call('HINCRBY', COUNTS, 'taken', 1)
end

-- Returns whether a message of Rqueue is periodic. Quotes within its payload are escaped, so that
-- this text can only be its own field.
local function is_periodic(member)
  return string.find(member, '"period":[1-9]') ~= nil
end
