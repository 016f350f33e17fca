-- record-backlog.lua: records in a minute of activity how many messages queues hold.
--
-- The node that counts replaces what was recorded in that minute, so a call that is run again
-- changes nothing. Queues without a place are left out.
--
-- KEYS[1]  activity, KEYS[2] activity-queues, KEYS[3] activity-nodes  see record-activity.lua
--
-- ARGV[1]  minute  a number; ignored unless it is the current one or that before
-- ARGV[2]  queue, '' for all together, ARGV[3] 'due leased scheduled dead', as BacklogCode has
--          them; and so on for at most 50
--
-- Returns  {}
--
-- Keeps    I1 to I6, which are about other keys
-- Cost     O(n), n queues, and copies of a row of at most 10 kB

local minute, queues, codes = tonumber(ARGV[1]), {}, {}
local now_minute = math.floor(clock() / 60000000)
if math.abs(now_minute - minute) > 1 or #ARGV < 3 then return {} end

local function set_codes(cell, text)
  local bytes = {}
  for code in string.gmatch(text, '%d+') do
    bytes[#bytes + 1], bytes[#bytes + 2] = math.floor(code / 256), code % 256
  end
  return string.sub(cell, 1, COUNTED) .. string.char(unpack(bytes))
end

for i = 2, #ARGV, 2 do queues[#queues + 1] = ARGV[i] end
redis.call('HDEL', ACTIVITY_NODES, '') -- a removal first: see mark-started.lua
for i, entry in ipairs(redis.call('HMGET', ACTIVITY_QUEUES, unpack(queues))) do
  local place, text = queue_entry(entry), ARGV[2 * i + 1]
  if queues[i] == '' then change_total(minute, '', text, set_codes) elseif place then codes[place] = text end
end
change_row(minute, codes, set_codes)
return {}
