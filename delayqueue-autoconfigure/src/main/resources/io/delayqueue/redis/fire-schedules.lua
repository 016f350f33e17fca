-- fire-schedules.lua: applies steps of schedules, and returns the schedules that are due, or to the
-- firing node those that are due next, so that it has their steps when their time comes.
--
--   absent -> SCHEDULED   the occurrence of each step that sends one
--
-- A step is based on a state of its schedule that the caller has read. It is applied if that is
-- still the state, and the schedule advances then: so each occurrence is sent, or counted as
-- skipped, once. The message is stored first. If the script fails in between, the
-- next call finds its id, keeps the message, and advances.
--
-- The due time of an occurrence is its nominal time, even if that is past, and it may be delayed
-- by the caller.
--
-- In a ledger each occurrence has a row in the journal, which the caller has inserted. If its message is
-- not stored, the row has ended, unless a call before has stored it; no repeated call uses a row that has
-- ended. A caller whose mode is outbox leaves the ledger, and inserts no rows.
--
-- KEYS     all of prelude.lua, those of schedules too; unused: primary,
--          journal, duplicates, schedule-declarations, schedule-owners
--
-- ARGV[1]  node   the caller, which fires first from now on if a step is applied; '' for one
--                 that does not fire, and leaves that as it is
-- ARGV[2]  limit  1..100, of the due schedules
-- ARGV from [3] on, for each step:
--   +0  name
--   +1  generation   of the state that the caller has read, as are the next two; '' if it is not readable
--   +2  next         ms: the nominal time of the occurrence
--   +3  last         ms
--   +4  next, tail, ahead   of the new state
--   +7  reason       why occurrences are skipped; '' to send one; '-' to try the schedule again in a
--                    minute, as the caller cannot read it
--   +8  to           ms: the nominal time of the last one to skip
--   +9  count        of those to skip
--   +10 id
--   +11 stamp + envelope
--   +12 due          ms
--   +13 time to live ms, 0 for none
--   +14 lane         0..9
--   +15 group        '' for none
--   +16 valid until  ms: the last time at which the decision to send is valid; '' for ever
--   +17 last id      skipped as OVERLAP if the queue holds this id; '' for none
--   +18 backlog id   skipped as BACKLOG if the queue holds this id; '' for none
--   +19 void         revisions of other rows of this occurrence, which end if its message is stored, with blanks
--                    between them; '' for none; '-' if the caller leaves the ledger and inserts no rows
--
-- Returns  { now, next_at, node, count, refused, { outcome, ... }, { name, state, ... }, { name, state, ... } }
--          now: microseconds; next_at: ms, the earliest next time of all schedules, 0 for none;
--          node: the one that fires first, as in firing-node, '' for none; count: of all schedules; refused: 1 if
--          this user may not publish wake-ups; outcome: 'sent', 'kept' if the queue held the id, the reason of a
--          skip, 'postponed', or without an effect 'stale', 'early', 'outdated' or, in a ledger for a message
--          without a row, 'unrecorded'; then schedules that are due after the steps; then those of next_at, if
--          none is due and no node but the caller fires first
--
-- Keeps    I1 to I6 (see schedule.lua)
--          S1  a name is in schedules if and only if it is in schedule-times, with its next time, or
--              with the time of the next attempt if a node could not read it
--          S2  the next time only grows while the generation stays
--          S3  each time that it passes was sent, or counted in schedule-skips
-- Cost     O((n + limit) * log N), n steps, N messages or schedules; answers with 1 MiB

local now = clock()
local now_ms, earliest = math.floor(now / 1000), nil

-- Stores a message; returns 'kept' if the queue holds one under its id that another call has stored, else 'sent'.
local function send(at)
  local id, group = ARGV[at + 10], ARGV[at + 15]
  if holds_id(id) and (redis.call('ZSCORE', LEASED, id) or waits_until(id)) then
    return is_held(id, ARGV[at + 11]) and 'sent' or 'kept'
  end
  if group ~= '' then
    -- prelude
    check_permissions()
  end
  local due, time_to_live = tonumber(ARGV[at + 12]), tonumber(ARGV[at + 13])
  local expiry = time_to_live > 0 and due + time_to_live or 0
  earliest = min_or_nil(earliest, store_message(id, ARGV[at + 11], due, expiry, tonumber(ARGV[at + 14]), group))
  end_rows(id, ARGV[at + 19])
  return 'sent'
end

local function apply(at)
  local name, next, schedule = ARGV[at], ARGV[at + 2], schedule_of(ARGV[at])
  local reason, to, count = ARGV[at + 7], ARGV[at + 8], tonumber(ARGV[at + 9])
  if schedule and not is_expected(schedule, ARGV[at + 1], next, ARGV[at + 3]) or not schedule and reason ~= '-' then return 'stale' end
  if reason == '-' then return postpone(name, schedule, now_ms) end
  if next == '0' or tonumber(next) > now_ms then return 'early' end
  if reason == '' then
    if not revision_of(ARGV[at + 11]) and ARGV[at + 19] ~= '-' and is_ledger() then return 'unrecorded' end
    if has_ended(ARGV[at + 10], ARGV[at + 11]) then return 'outdated' end
    if ARGV[at + 16] ~= '' and now_ms > tonumber(ARGV[at + 16]) then return 'outdated' end
    to, count = next, 1
    reason = holds_id(ARGV[at + 17]) and 'OVERLAP' or holds_id(ARGV[at + 18]) and 'BACKLOG' or ''
  end
  local outcome = reason
  if reason ~= '' then
    record_skip(name, reason, next, to, count, schedule.last)
  else
    outcome = send(at)
    schedule.last, schedule.sent = next, to_digits(schedule.sent + 1)
  end
  advance(schedule, outcome, ARGV[at + 4], ARGV[at + 5], ARGV[at + 6])
  set_schedule(name, schedule)
  return outcome
end

local outcomes, applied = {}, false
local unapplied = { stale = true, early = true, outdated = true, unrecorded = true, postponed = true }
for at = 3, #ARGV, 20 do
  local outcome = apply(at)
  if outcome ~= 'sent' then end_row(ARGV[at + 10], ARGV[at + 11]) end
  outcomes[#outcomes + 1] = outcome
  applied = applied or not unapplied[outcome]
end
if applied and ARGV[1] ~= '' then redis.call('SET', FIRING_NODE, ARGV[1] .. ' ' .. to_digits(now_ms)) end

local due, node = due_schedules(now_ms, tonumber(ARGV[2])), redis.call('GET', FIRING_NODE) or ''
local head = tonumber(redis.call('ZRANGE', SCHEDULE_TIMES, '0', '0', 'WITHSCORES')[2] or NEVER)
return { now, head < tonumber(NEVER) and math.max(1, math.ceil(head)) or 0, node,
  redis.call('ZCARD', SCHEDULE_TIMES), earliest and wake_if_earlier(earliest, now) or 0, outcomes, due,
  #due == 0 and fires_first(ARGV[1], node) and next_schedules(head, tonumber(ARGV[2])) or {} }
