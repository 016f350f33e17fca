-- prelude.lua: the keys, and the functions that scripts share. The loader puts in front of each
-- script those that it uses, as every function costs a script time in each call.
--
-- Functions that only a rare case of a script uses stand at the start of its block, at the
-- line `-- prelude`, and cost nothing where the block is not entered.
--
-- All scripts take the same keys in the same order, so that functions here can share them.
--
-- Contents, in the order of dependence:
--
-- prelude-values.lua: reads the clock, and converts numbers, times and the layout
--   clock                       microseconds since the epoch, of this server
--   to_digits                   a number as digits
--   min_or_nil                  the lesser of two numbers, of which either may be nil
--   due_time                    the due time that a sender asks for
--   until_expiry                a due time, but not after the expiry
--   version_of                  the version of the layout of partitions
--   pause_end                   when a pause ends
--   reject_stale_layout         the error for a sender whose layout is old
--
-- prelude-entries.lua: reads and writes entries of details and attempts
--   to_details                  an entry of details from its fields
--   from_details                its fields
--   details_of                  the fields of a message
--   attempts_of                 an entry of attempts as a table
--   first_failure               the first failure in the texts of an entry
--   with_failure                the texts with one more failure
--   set_attempts                stores one
--
-- prelude-lanes.lua: adds messages to lanes, removes and finds them
--   lane_of                     the sorted set of a lane, and the offset of its scores
--   lane_at                     the lane of a score
--   add_to_lane                 adds a message
--   remove_from_lane            removes one
--   due_in_lane                 when a message is due
--   lanes_in_use                the lanes in which messages may be
--
-- prelude-permissions.lua: tries commands before a message leaves its place
--   check_removals              removes nothing: a full Redis, and missing rights to remove
--   check_permissions           tries all commands of the rare transitions
--
-- prelude-groups.lua: keeps the messages of a group in order
--   waiting_member              the member of `waiting` for a message
--   precedes                    the order of ids
--   groups                      wait_behind_head, leave_group
--
-- prelude-journal.lua: limits the calls of a journal, and records changes of its messages
--   reject_late                 the error for a call that comes after its deadline
--   revision_of                 the row of the journal that a message has
--   keep_out                    keeps messages out that a request has made void
--   held_revision               that of a message that is held
--   record_ends                 records that messages of the journal have ended
--   record_failure              records that a message failed
--   record_dead_letter          records that a message becomes a dead letter
--   record_removals             records that dead letters are gone
--
-- prelude-duplicates.lua: keeps the ids whose duplicate windows have begun
--   window_of                   the duplicate window of a message that is held
--   is_duplicate                whether the window of an id has begun and not ended
--   trim_windows                removes windows that have ended
--   start_window                begins one
--   start_windows               begins those of messages that were handled
--
-- prelude-messages.lua: stores and deletes messages
--   waits_until                 when a waiting message is due, and whether it is in its lane
--   add_to_lane_or_group        adds a message to its lane, or behind the head of its group
--   delete_messages             removes all entries of messages that left their place
--   store_message               adds a message that is not held
--
-- prelude-settlements.lua: ends an attempt: with a successor, a dead letter, or a return to the lane
--   successor_of                the fields of a successor
--   has_later_successor         whether a message has a successor of a later revision
--   record_successor_end        records for the journal that a successor is not to follow
--   finish_and_start_successor  LEASED -> gone, or the successor SCHEDULED
--   add_dead_letter             adds a dead letter
--   return_to_lane              LEASED -> SCHEDULED, with new attempts
--
-- prelude-leases.lua: checks leases, and ends those that ran out
--   holds                       whether a token is that of the present lease
--   already_returned            whether its holder gave a message back
--   lapse                       LEASED -> SCHEDULED, or what follows: the lease ran out
--   expire_lease_if_over        does that if the lease is over; whether it lives
--
-- prelude-wake-ups.lua: sets the wake mark and publishes wake-ups
--   clear_wake_mark             removes the mark with the last message
--   publish_wake_up             sets the mark and publishes
--   wake_if_earlier             does that unless a worker polls earlier
--   publish_schedules           notifies nodes of a change of schedules
--
-- prelude-schedules.lua: reads and writes schedules
--   stored_state                the stored text of a schedule
--   schedule_of                 its state
--   is_expected                 whether that is the state that a caller has read
--   last_declaration            the application that declares a schedule, and when it did last
--   score_of                    the score of a next time
--   advance                     moves a schedule by a step
--   set_schedule                stores a schedule that has advanced
--   postpone                    lets nodes try a schedule again later
--
-- prelude-skips.lua: counts the occurrences of schedules that are skipped
--   record_skip                 counts some, and keeps the last skips
--
-- prelude-occurrences.lua: finds due schedules, and ends the rows of occurrences that are not stored
--   holds_id                    whether the queue holds an id
--   due_schedules               those that are due
--   next_schedules              those of the earliest next time
--   fires_first                 whether no node but the caller does
--   is_ledger                   whether messages of the queue have rows
--   is_held                     whether a message is held with its row
--   has_ended                   whether that row has ended
--   end_rows                    records that rows have ended whose messages are not held
--   end_row                     records that for the row of a message
--
-- prelude-activity.lua: reads and writes minutes of activity
--   minute_of                   a minute as digits
--   row_name                    the name of its row
--   row_of                      the row
--   queue_entry                 the place of a queue
--   change_row                  changes the cells of queues in a minute
--   change_total                changes that of all queues together
--
-- prelude-activity-queues.lua: gives queues their places in the minutes of activity
--   put_entry                   adds a field to a key, which expires
--   add_queue_entry             stores the place of a queue
--   places_of                   the places of queues, new ones included
--
-- prelude-activity-minutes.lua: begins a minute of activity
--   begin_minute                removes what is old, at the first report of a minute
--
-- KEYS[1]  messages   HASH   id -> stamp + envelope; the stamp is 8 characters: 's' or 'r'
--                            (scheduled, or replaced an earlier message), then 7 that
--                            identify the send that stored it; of a message that has a row in
--                            a journal 'S' or 'R', then its revision, 7 digits of base 36
-- KEYS[2]  scheduled  ZSET   id -> due time, ms; the normal lane
-- KEYS[3]  wake       STRING the earliest time, ms, at which workers with free permits plan to
--                            poll; the channel of wake-ups has the same name. Published there:
--                            '+<us>:<ms>' a message is due after that time, and when; '!' poll now;
--                            'k<ms>:<load>:<node>' the primary poller polled, and will again
--                            after that time, '' for an empty queue; 'v' there is none;
--                            's' schedules were changed
-- KEYS[4]  partitions STRING 'version|counts', the layout of partitions, as PartitionLayout
--                            writes it, then 'p' if it is paused, and until when, ms, 'j' for
--                            a ledger; a setting, which outlives messages. Absent: one partition,
--                            version 0
-- KEYS[5]  leased     ZSET   id -> end of its lease, microseconds
-- KEYS[6]  details    HASH   id -> 'due:expiry:lane', original due time and expiry in ms, 0
--                            for no expiry, followed by ':group' if it has a group; only
--                            where there is an expiry, another lane or a group
-- KEYS[7]  attempts   HASH   id -> 'failures:lapses:redelivered:by:token:texts'; only
--                            once it came back from a lease. redelivered: 0 no, 1 its last lease
--                            ran out, 2 and its start is recorded. by: 'h' its holder gave
--                            it back, 'l' its lease ran out. token: of its last lease. texts: of
--                            its failures, see with_failure
-- KEYS[8]  tokens     HASH   id -> token; only where that is not the end of the lease: once
--                            it was extended, or where the last token was a later time
-- KEYS[9]  successors HASH   id -> what follows its lease: 'C' nothing, it was cancelled, or
--                            'S' + details + '|' + stamp + envelope, its successor
-- KEYS[10] dead-order ZSET   dead letter -> when it was dead-lettered, ms; named id~token
-- KEYS[11] dead-letters HASH   dead letter -> see add_dead_letter
-- KEYS[12] scheduled:priorities  ZSET  id -> lane * LANE + due time, ms; the other lanes,
--                            counted from the highest: 0 is that of priority 9, 4 that of 5,
--                            5 that of 3, and 8 that of 0
-- KEYS[13] waiting    ZSET   group + ' ' + original due time, 15 digits + ':' + id -> 0; the
--                            messages that wait in their group, in the order of their turn
-- KEYS[14] group-heads HASH   group -> id of its head, which is in its lane or leased
-- KEYS[15] primary    STRING 'node load': the primary poller, and how many partitions it polls
--                            first; a setting, which expires when its node is gone
-- KEYS[16] revisions  HASH   id -> revision, of a message that has a row in a journal; or '-' and its
--                            duplicate window, ms, of one that has that
-- KEYS[17] changes    ZSET   what a node is to record in the journal -> when it may, ms; negative
--                            once it is recorded: when the entry may be removed. Entries:
--                            revision + ' ' + id, that message has ended; with 'F' before it, it
--                            failed; 'D' + revision + ' ' + dead letter, it became that; 'R0 ' +
--                            dead letter, that is gone
-- KEYS[18] journal    STRING 'identity count': the journal of the queue, and how often a node
--                            has called changes.lua for it; a setting, which outlives messages
--
-- Only calls that concern duplicate windows take the following key, and those of schedules.
--
-- KEYS[19] duplicates ZSET   id -> when its duplicate window ends, ms; expires with the last one
--
-- Only the scripts of schedules take the following keys, all of them settings. Times are in ms.
--
-- KEYS[20] schedules  HASH   name -> 'generation:next:last:tail:ahead:sent:state:owner definition';
--                            next, last: nominal times of the next occurrence and of the last one
--                            that was sent, 0 for none; tail: that of the occurrence that precedes
--                            `next` by `ahead`; state: 'a' active, 'p' paused; owner: the
--                            application that declares it, '' for none; no script reads the definition
-- KEYS[21] schedule-times ZSET name -> next time, NEVER for none; when to try it again if a node could not read it
-- KEYS[22] schedule-skips HASH name -> 'reason=total' for each reason, then the last skips, the latest
--                            first, each 'reason,first,last,count', separated by blanks
-- KEYS[23] schedule-declarations HASH name -> what nodes declare: 'fingerprint:first seen:last
--                            declared' of each definition, separated by blanks
-- KEYS[24] schedule-owners HASH application -> 'since:last': since when it has had live nodes, and
--                            when one of them called last
-- KEYS[25] firing-node STRING 'node last': the node that fires schedules first, and when it has applied a step
--                            last, 0 for never

local MESSAGES = KEYS[1]
local SCHEDULED = KEYS[2]
local WAKE = KEYS[3]
local PARTITIONS = KEYS[4]
local LEASED = KEYS[5]
local DETAILS = KEYS[6]
local ATTEMPTS = KEYS[7]
local TOKENS = KEYS[8]
local SUCCESSORS = KEYS[9]
local DEAD_ORDER = KEYS[10]
local DEAD_LETTERS = KEYS[11]
local PRIORITIES = KEYS[12]
local WAITING = KEYS[13]
local GROUP_HEADS = KEYS[14]
local PRIMARY = KEYS[15]
local REVISIONS = KEYS[16]
local CHANGES = KEYS[17]
local JOURNAL = KEYS[18]
local DUPLICATES = KEYS[19] -- nil in other calls
local SCHEDULES = KEYS[20]
local SCHEDULE_TIMES = KEYS[21]
local SCHEDULE_SKIPS = KEYS[22]
local DECLARATIONS = KEYS[23]
local SCHEDULE_OWNERS = KEYS[24]
local FIRING_NODE = KEYS[25]
local NORMAL = 4
local LANE = 1e15 -- later than any due time; nine times that is an exact double
local NEVER = '9e15' -- later than any time at which a node may record a change, or a schedule fires
local PROBE = '\0' -- no id
local WAKE_GRACE = 1000
local BYTES = 1048576 -- of contents, after which a call reads no more of them
local SMALL = 4096 -- bytes; contents of a claim with fewer on average are read several at once
local TOGETHER = 10 -- how many of these are read at once
local REMOVALS = 100 -- most messages that a claim removes
local WINDOWS = 100000 -- most ids with a duplicate window that has begun, beyond which none is sent
local UNRECORDED = 1000000 -- most changes that no journal has recorded, beyond which nothing is claimed
local BACKLOGGED = '1001' -- the `ahead` of a schedule after a skip as BACKLOG: above every limit
local RETRY = 60000 -- ms, after which a schedule that a node could not read is tried again
local UNREADABLE = '?' -- answered for a schedule that has a time and no state, or an empty one
local SKIPS = 20 -- most skips that are kept of a schedule
