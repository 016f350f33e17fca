-- prelude-permissions.lua: tries commands before a message leaves its place; see prelude.lua.

-- Removes nothing, for two reasons: a full Redis rejects a script whose first write needs
-- memory, and a missing right to remove ends the script before it has added anything. Scripts
-- then write to the next place of a message before they remove it from the former one.
local function check_removals()
  redis.call('ZREM', LEASED, PROBE)
  redis.call('HDEL', TOKENS, PROBE)
  redis.call('HDEL', REVISIONS, PROBE)
  redis.call('ZREM', CHANGES, PROBE)
end

-- Tries, without effect, all commands that groups, successors and dead letters need: their
-- many writes have no order in which each may fail. A missing right, or a key of another type,
-- ends the script here. Senders begin with this, so that a full Redis rejects it.
local function check_permissions()
  redis.call('ZADD', LEASED, 'XX', '0', PROBE)
  redis.call('HDEL', TOKENS, PROBE)
  redis.call('HSET', TOKENS, PROBE, '')
  redis.call('HDEL', TOKENS, PROBE)
  redis.call('ZREM', LEASED, PROBE)
  redis.call('EXISTS', GROUP_HEADS)
  redis.call('ZRANGE', WAITING, '0', '0')
  redis.call('HMGET', MESSAGES, PROBE)
  for _, key in ipairs({ DEAD_ORDER, SCHEDULED, PRIORITIES, CHANGES }) do redis.call('ZSCORE', key, PROBE) end
  for _, key in ipairs({ ATTEMPTS, DETAILS, REVISIONS }) do redis.call('HGET', key, PROBE) end
  for _, key in ipairs({ SUCCESSORS, GROUP_HEADS, DEAD_LETTERS }) do redis.call('HEXISTS', key, PROBE) end
end
