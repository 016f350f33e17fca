-- prelude-wake-ups.lua: sets the wake mark and publishes wake-ups; see prelude.lua.

-- Removes the wake mark with the last message: an empty queue leaves no key behind.
local function clear_wake_mark()
  if redis.call('EXISTS', MESSAGES) == 0 then redis.pcall('DEL', WAKE) end
end

-- Sets the wake mark and publishes when a message is due, or `body`. Returns 1 if this user
-- may not publish, else 0; the message is stored in both cases.
local function publish_wake_up(due, now, body)
  local ahead = math.max(0, due * 1000 - now)
  redis.pcall('SET', WAKE, to_digits(due), 'PX', to_digits(math.ceil(ahead / 1000) + WAKE_GRACE))
  local reply = redis.pcall('PUBLISH', WAKE, body or '+' .. to_digits(ahead) .. ':' .. to_digits(due))
  return type(reply) == 'table' and reply.err and 1 or 0
end

-- Wakes the workers if a message became due before they plan to poll. Returns the result of
-- publish_wake_up.
local function wake_if_earlier(due, now, body)
  local mark = tonumber(redis.pcall('GET', WAKE))
  if mark and due >= mark then return 0 end
  return publish_wake_up(due, now, body)
end

-- Notifies the nodes that a schedule was changed. Returns 1 if this user may not publish, else 0.
local function publish_schedules()
  local reply = redis.pcall('PUBLISH', WAKE, 's')
  return type(reply) == 'table' and reply.err and 1 or 0
end
