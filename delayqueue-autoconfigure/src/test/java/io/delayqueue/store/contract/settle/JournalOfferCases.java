package io.delayqueue.store.contract.settle;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.fixtures.store.ClaimValues;
import io.delayqueue.fixtures.store.ClaimedMessageValues;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.fixtures.store.StoreValues;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.LedgerEntry.Kind;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageGroupChangeException;
import io.delayqueue.store.NewMessage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.ID;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Offers of revision 20 in each state of their id: each cell of the first table of
 * docs/internals/journal.md, section Offers.
 */
public abstract class JournalOfferCases extends StoreCases {

    /**
     * Each cell has the answer, and the revisions that are handled after the attempt of a
     * leased message has failed. Revision 10 is earlier, and revision 30 is later.
     */
    static final String TABLE = """
            | nothing | stored 20 | stored 20 | stored 20 | NOT_FOUND | NOT_FOUND |
            | this revision, waiting | RECORDED 20 | RECORDED 20 | RECORDED 20 | RESCHEDULED 20 | CANCELLED |
            | this revision, leased | RECORDED 20 | RECORDED 20 | RECORDED 20 | LEASED 20 | LEASED |
            | this revision as a successor | RECORDED 20 | RECORDED 20 | RECORDED 20 | LEASED 20 | LEASED |
            | this revision in `changes` | KEPT | KEPT | KEPT | NOT_FOUND | NOT_FOUND |
            | an earlier revision in `changes` | stored 20 | stored 20 | stored 20 | NOT_FOUND | NOT_FOUND |
            | a later revision in `changes` | stored 20 | stored 20 | stored 20 | NOT_FOUND | NOT_FOUND |
            | a later revision, waiting | KEPT 30 | KEPT 30 | KEPT 30 | NOT_FOUND 30 | NOT_FOUND 30 |
            | a later revision, leased | KEPT 30 | KEPT 30 | KEPT 30 | NOT_FOUND 30 | NOT_FOUND 30 |
            | an earlier revision, leased, with a later successor | KEPT 30 | KEPT 30 | KEPT 30 | LEASED 30 | LEASED 30 |
            | an earlier revision, waiting | KEPT 10 | REPLACED 20 | KEPT 10 | RESCHEDULED 10 | CANCELLED |
            | an earlier revision, leased | KEPT 10 | successor 20 | successor 20 | LEASED 10 | LEASED |
            | the same with a successor | KEPT 15 | successor 20 | KEPT 15 | LEASED 15 | LEASED |
            | the same, cancelled | successor 20 | successor 20 | successor 20 | LEASED | LEASED |
            | a message without a row, with a successor | KEPT 15 | successor 20 | KEPT 15 | LEASED 15 | LEASED |
            | an earlier revision whose lease ran out | KEPT 10 | REPLACED 20 | KEPT 10 | RESCHEDULED 10 | CANCELLED |
            | the same with a successor of an earlier revision | KEPT 15 | REPLACED 20 | KEPT 15 | RESCHEDULED 15 | CANCELLED |
            | the same with a later successor | KEPT 30 | KEPT 30 | KEPT 30 | NOT_FOUND 30 | NOT_FOUND 30 |
            | an earlier revision of another group, waiting | KEPT 10 | refused 10 | KEPT 10 | RESCHEDULED 10 | CANCELLED |
            | an earlier revision of another group, leased | KEPT 10 | refused 10 | refused 10 | LEASED 10 | LEASED |
            """;

    private static final List<String> REQUESTS = List.of("Send KEEP", "Send REPLACE", "Send AFTER_CURRENT",
            "Reschedule", "Cancel");

    private static final long OFFERED = 20;

    private final List<Long> revisions = new ArrayList<>();

    private @Nullable Lease lease;

    public JournalOfferCases(StoreFixture contract) {
        super(contract);
    }

    static Stream<Arguments> cells() {
        return TABLE.lines().flatMap((line) -> {
            List<String> cells = Arrays.stream(line.split("\\|"))
                .map(String::strip)
                .filter((cell) -> !cell.isEmpty())
                .toList();
            return REQUESTS.stream()
                .map((request) -> Arguments.of(cells.get(0), request, cells.get(REQUESTS.indexOf(request) + 1)));
        });
    }

    @ParameterizedTest(name = "{0} x {1}: {2}")
    @MethodSource("cells")
    void hasTheAnswerAndTheEffectOfItsCell(String state, String request, String cell) {
        this.dq.restored("journal-1");
        begin(state);

        assertThat(answer(request)).isEqualTo(cell.split(" ")[0]);

        Set<LedgerEntry> ended = new LinkedHashSet<>(ended());
        if (this.lease != null) {
            this.dq.retry(this.lease);
        }
        this.dq.advance(DELAY.multipliedBy(2));
        List<Long> handled = drained();
        assertThat(handled).isEqualTo(Arrays.stream(cell.split(" ")).skip(1).map(Long::valueOf).toList());
        assertThat(ended).as("ended at first").noneMatch((message) -> handled.contains(message.revision()));
        ended.addAll(ended());
        assertThat(ended.stream().map(LedgerEntry::revision)).as("ended at last")
            .hasSameElementsAs(new TreeSet<>(this.revisions));
        ended.forEach(this::forget);
    }

    private void begin(String state) {
        switch (state) {
            case "nothing" -> {
            }
            case "this revision, waiting" -> offer(20, OnDuplicate.KEEP, DELAY, null);
            case "this revision, leased" -> leased(20, null);
            case "this revision as a successor" -> leasedWithSuccessor(20);
            case "this revision in `changes`" -> ended(20);
            case "an earlier revision in `changes`" -> ended(10);
            case "a later revision in `changes`" -> ended(30);
            case "a later revision, waiting" -> offer(30, OnDuplicate.KEEP, DELAY, null);
            case "a later revision, leased" -> leased(30, null);
            case "an earlier revision, leased, with a later successor" -> leasedWithSuccessor(30);
            case "an earlier revision, waiting" -> offer(10, OnDuplicate.KEEP, DELAY, null);
            case "an earlier revision, leased" -> leased(10, null);
            case "the same with a successor" -> leasedWithSuccessor(15);
            case "a message without a row, with a successor" -> {
                this.dq.due();
                this.lease = this.dq.claimOne();
                offer(15, OnDuplicate.AFTER_CURRENT, DELAY, null);
            }
            case "the same, cancelled" -> {
                leased(10, null);
                this.dq.cancel(15);
            }
            case "an earlier revision whose lease ran out" -> {
                leased(10, null);
                expire();
            }
            case "the same with a successor of an earlier revision" -> {
                leasedWithSuccessor(15);
                expire();
            }
            case "the same with a later successor" -> {
                leasedWithSuccessor(30);
                expire();
            }
            case "an earlier revision of another group, waiting" -> offer(10, OnDuplicate.KEEP, DELAY, "g");
            case "an earlier revision of another group, leased" -> leased(10, "g");
            default -> throw new IllegalArgumentException(state);
        }
    }

    /** Lets the lease run out before any node claims again. */
    private void expire() {
        this.dq.advance(LEASE);
        this.lease = null;
    }

    private void leased(long revision, @Nullable String group) {
        offer(revision, OnDuplicate.KEEP, Duration.ZERO, group);
        this.lease = this.dq.claimOne();
    }

    private void leasedWithSuccessor(long successor) {
        leased(10, null);
        offer(successor, OnDuplicate.AFTER_CURRENT, DELAY, null);
    }

    private void ended(long revision) {
        leased(revision, null);
        this.dq.acknowledge(Objects.requireNonNull(this.lease));
        this.lease = null;
    }

    private String offer(long revision, OnDuplicate onDuplicate, Duration delay, @Nullable String group) {
        NewMessage message = new NewMessage(ID, false, DueTime.after(delay), onDuplicate, MessageLimits.NORMAL_PRIORITY,
                null, group, StoreValues.envelope(Long.toString(revision)));
        String outcome = this.dq.offer(message, revision).outcome().name();
        if (!outcome.equals("KEPT")) {
            this.revisions.add(revision);
        }
        return outcome;
    }

    private String answer(String request) {
        try {
            String answer = switch (request) {
                case "Reschedule" -> this.dq.rescheduling(OFFERED, LEASE).join().name();
                case "Cancel" -> this.dq.cancel(OFFERED).name();
                default -> offer(OFFERED, OnDuplicate.valueOf(request.substring("Send ".length())), DELAY, null);
            };
            return switch (answer) {
                case "SCHEDULED" -> "stored";
                case "AFTER_CURRENT" -> "successor";
                default -> answer;
            };
        }
        catch (AssertionError ex) {
            assertThat(ex).hasRootCauseInstanceOf(MessageGroupChangeException.class);
            return "refused";
        }
    }

    /** Returns the revisions of all messages, which it claims until none is left. */
    private List<Long> drained() {
        List<Long> drained = new ArrayList<>();
        for (ClaimValues claim = this.dq.claim(); !claim.messages().isEmpty(); claim = this.dq.claim()) {
            claim.messages().stream().map(ClaimedMessageValues::content).map(Long::valueOf).forEach(drained::add);
            this.dq.acknowledgeAll(claim.leases());
            this.dq.advance(DELAY);
        }
        return drained;
    }

    /** Returns the messages that have ended and that no call returned before. */
    private List<LedgerEntry> ended() {
        List<LedgerEntry> changes = new ArrayList<>(this.dq.changes("journal-1").entries());
        changes.stream().filter((entry) -> entry.kind() == Kind.FAILED).forEach(this::forget);
        changes.removeIf((entry) -> entry.kind() == Kind.FAILED);
        return changes;
    }

    private void forget(LedgerEntry change) {
        this.dq.changes("journal-1", change);
        if (change.kind() != Kind.FAILED) {
            this.dq.advance(DELAY.plusSeconds(1));
            this.dq.changes("journal-1");
        }
    }

}
