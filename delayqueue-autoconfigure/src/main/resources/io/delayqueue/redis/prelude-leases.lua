-- prelude-leases.lua: checks leases, and ends those that ran out; see prelude.lua.

-- Returns whether `token` is that of the present lease of `id`, even if it ran out.
local function holds(id, token)
  local deadline = redis.call('ZSCORE', LEASED, id)
  return deadline ~= false and token == (redis.call('HGET', TOKENS, id) or deadline)
end

-- Returns whether the holder of `token` gave `id` back, and it was not claimed since: the
-- answer to a call that is repeated after its reply was lost.
local function already_returned(id, token)
  if redis.call('ZSCORE', LEASED, id) then return false end
  local entry = attempts_of(id)
  return entry.by == 'h' and entry.token == token
end

-- LEASED -> SCHEDULED, or what follows: the lease of `id` ran out at `deadline`. A message with
-- details that never failed keeps its due time, which is not stored for others while they are
-- leased: they are due when their lease was given, which is `lease_time` before the token, if
-- the caller knows how long leases usually are; else at the deadline. Follows check_removals.
local function lapse(id, deadline, lease_time)
  if redis.call('HEXISTS', SUCCESSORS, id) == 1 then
    check_permissions()
    finish_and_start_successor(id)
    return
  end
  local token, entry = redis.call('HGET', TOKENS, id) or deadline, attempts_of(id)
  if entry.redelivered == 2 then entry.lapses = entry.lapses + 1 end
  entry.redelivered, entry.by, entry.token = 1, 'l', token
  local due, _, lane = details_of(id)
  if not due or entry.failures > 0 then
    local given = lease_time and tonumber(string.match(token, '^%d+$') or deadline) - lease_time
    due = math.floor(math.min(given or math.huge, tonumber(deadline)) / 1000)
  end
  return_to_lane(id, entry, lane, due)
end

-- Ends the lease of `id` if it has run out by `now`, for callers other than its holder.
-- Returns whether it has a live lease.
local function expire_lease_if_over(id, now)
  local deadline = redis.call('ZSCORE', LEASED, id)
  if not deadline then return false end
  if tonumber(deadline) > now then return true end
  check_removals()
  lapse(id, deadline)
  return false
end
