package io.delayqueue.store.contract.inspect;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.delayqueue.FailureReasons;
import io.delayqueue.MessageLimits;
import io.delayqueue.MessageState;
import io.delayqueue.MessageSummary;
import io.delayqueue.admin.MessagePage;
import io.delayqueue.admin.MessageSelection;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.Lease;
import io.delayqueue.store.ListedMessage;
import io.delayqueue.store.MessageCursor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.GroupValues.grouped;
import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.ID;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.QUEUE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.called;
import static io.delayqueue.fixtures.store.StoreValues.expiring;
import static io.delayqueue.fixtures.store.StoreValues.inLane;
import static org.assertj.core.api.Assertions.assertThat;

/** Messages in lists, page by page. */
public abstract class ListingCases extends StoreCases {

    private final StoreFixture contract;

    public ListingCases(StoreFixture contract) {
        super(contract);
        this.contract = contract;
    }

    private MessagePage page(MessageSelection listing, @Nullable String cursor, int limit) {
        MessageCursor after = (cursor != null) ? MessageCursor.parse(cursor, listing) : null;
        return ListedMessage.page(listing,
                List.of(this.contract.queueInspector().messages(QUEUE, listing, after, limit + 1).join()), limit);
    }

    private List<MessageSummary> all(MessageSelection listing) {
        return page(listing, null, 100).messages();
    }

    /** Returns the ids of all pages of a number of messages. */
    private List<String> paged(MessageSelection listing, int limit) {
        List<String> ids = new ArrayList<>();
        String cursor = null;
        do {
            MessagePage page = page(listing, cursor, limit);
            assertThat(page.messages()).hasSizeLessThanOrEqualTo(limit);
            page.messages().forEach((message) -> ids.add(message.id()));
            cursor = page.nextCursor();
            assertThat(ids).hasSizeLessThan(1_000); // or it goes round and round
        }
        while (cursor != null);
        return ids;
    }

    private static MessageSummary waiting(String id, Instant due, int priority, @Nullable String group) {
        return new MessageSummary(QUEUE.queue().value(), id, MessageState.SCHEDULED, due, null, null, priority, group,
                0, 0, null);
    }

    private static MessageSummary waiting(String id, Instant due) {
        return waiting(id, due, MessageLimits.NORMAL_PRIORITY, null);
    }

    @Test
    void areEmptyWhereNothingIs() {
        for (MessageSelection listing : MessageSelection.values()) {
            assertThat(page(listing, null, 10)).isEqualTo(new MessagePage(List.of(), null));
        }
    }

    @Test
    void listScheduledMessagesOfAllLanesByDueTime() {
        this.dq.send(called("c", DELAY));
        this.dq.send(inLane(9, "b", DELAY.plusSeconds(1)));
        this.dq.send(inLane(0, "x", Duration.ZERO));
        this.dq.send(expiring(Duration.ofSeconds(5), DELAY));

        MessageSummary expiring = new MessageSummary(QUEUE.queue().value(), ID, MessageState.SCHEDULED, at(5), null,
                at(15), MessageLimits.NORMAL_PRIORITY, null, 0, 0, null);
        assertThat(all(MessageSelection.SCHEDULED)).containsExactly(waiting("x", at(0), 0, null), expiring,
                waiting("c", at(10)), waiting("b", at(11), 9, null));
    }

    @Test
    void listDueMessages() {
        this.dq.send(called("late", Duration.ZERO));
        this.dq.send(inLane(7, "later", DELAY));
        this.dq.send(called("not-yet", DELAY.plusMillis(1)));
        this.dq.advance(DELAY);

        assertThat(all(MessageSelection.DUE)).containsExactly(waiting("late", at(0)),
                waiting("later", at(10), 7, null));
        assertThat(paged(MessageSelection.DUE, 1)).containsExactly("late", "later");
    }

    @Test
    void listLeasedMessagesByTheEndOfTheirLeases() {
        Lease first = this.dq.leased();
        this.dq.advance(Duration.ofSeconds(1));
        this.dq.send(inLane(9, "b", Duration.ZERO));
        this.dq.claimOne();
        this.dq.extend(first, LEASE.plusSeconds(5));

        assertThat(all(MessageSelection.LEASED)).containsExactly(
                new MessageSummary(QUEUE.queue().value(), "b", MessageState.LEASED, null, at(31), null, 9, null, 0, 0,
                        null),
                new MessageSummary(QUEUE.queue().value(), ID, MessageState.LEASED, null, at(36), null,
                        MessageLimits.NORMAL_PRIORITY, null, 0, 0, null));
        assertThat(paged(MessageSelection.LEASED, 1)).containsExactly("b", ID);
        this.dq.advance(LEASE);
        assertThat(all(MessageSelection.LEASED).get(0)).isEqualTo(waiting("b", at(1), 9, null));
        assertThat(all(MessageSelection.SCHEDULED)).isEmpty();
    }

    @Test
    void showTheAttemptsOfAMessage() {
        this.dq.retry(this.dq.leased());

        assertThat(all(MessageSelection.SCHEDULED))
            .containsExactly(new MessageSummary(QUEUE.queue().value(), ID, MessageState.SCHEDULED, at(10), null, null,
                    MessageLimits.NORMAL_PRIORITY, null, 1, 0, new FailureReasons("failure", "failure", at(0))));
    }

    @Test
    void listMessagesThatWaitInTheirGroupByGroupAndDueTime() {
        this.dq.threeOfAGroup();
        this.dq.send(grouped("f", "head", Duration.ofSeconds(1)));
        this.dq.send(grouped("f", "next", Duration.ofSeconds(9)));

        assertThat(all(MessageSelection.WAITING_IN_GROUP)).containsExactly(
                waiting("next", at(19), MessageLimits.NORMAL_PRIORITY, "f"),
                waiting("y", at(2), MessageLimits.NORMAL_PRIORITY, "g"),
                waiting("z", at(3), MessageLimits.NORMAL_PRIORITY, "g"));
        assertThat(paged(MessageSelection.WAITING_IN_GROUP, 1)).containsExactly("next", "y", "z");
        assertThat(paged(MessageSelection.SCHEDULED, 1)).containsExactly("x", "head");
    }

    @Test
    void goOnWithinOneMillisecondAndOverLanes() {
        for (int i = 0; i < 60; i++) {
            this.dq.send((i % 3 == 0) ? inLane(i % 10, "m" + i, DELAY) : called("m" + i, DELAY));
        }

        for (int limit : new int[] { 1, 7, 59, 60, 100 }) {
            assertThat(paged(MessageSelection.SCHEDULED, limit)).hasSize(60).isSorted().doesNotHaveDuplicates();
        }
        assertThat(page(MessageSelection.SCHEDULED, null, 60).nextCursor()).isNull();
    }

    @Test
    void goOnBehindAMessageThatHasGone() {
        for (String id : List.of("a", "b", "c", "d")) {
            this.dq.send(called(id, DELAY));
        }
        MessagePage first = page(MessageSelection.SCHEDULED, null, 2);
        this.dq.cancel("b");
        this.dq.cancel("a");

        assertThat(page(MessageSelection.SCHEDULED, first.nextCursor(), 2).messages()).extracting(MessageSummary::id)
            .containsExactly("c", "d");
    }

}
