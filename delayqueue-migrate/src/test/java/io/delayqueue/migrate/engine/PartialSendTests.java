package io.delayqueue.migrate.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;

import io.delayqueue.BatchSendException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.migrate.EntryOutcome;
import io.delayqueue.migrate.MigrationSource;
import io.delayqueue.migrate.SourceEntry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mockito.InOrder;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;

/**
 * Tests that messages of a batch that are stored are settled, and not sent again with the
 * others: new consumers may have handled them meanwhile.
 */
class PartialSendTests {

    private final MigrationSource source = mock();

    private final DelayQueueOperations target = mock();

    private final StopSignal stop = new StopSignal() {

        @Override
        public void pause(Duration time) {
        }

    };

    /** The answers of the first sends; later messages are stored. */
    private final Deque<Function<List<DelayedMessage>, List<SendResult>>> answers = new ArrayDeque<>();

    /** The ids of the messages of each send. */
    private final List<List<String>> sends = new ArrayList<>();

    @BeforeEach
    void answer() {
        given(this.source.queues()).willReturn(List.of("orders"));
        given(this.target.sendAll(any())).willAnswer((call) -> {
            Collection<DelayedMessage> argument = call.getArgument(0);
            List<DelayedMessage> messages = List.copyOf(argument);
            this.sends.add(messages.stream().map((message) -> message.id().orElseThrow()).toList());
            Function<List<DelayedMessage>, List<SendResult>> answer = this.answers.poll();
            return (answer != null) ? answer.apply(messages)
                    : messages.stream().map((message) -> result(message, SendOutcome.SCHEDULED)).toList();
        });
    }

    @Test
    void onlyTheOtherMessagesOfABatchAreSentAgainAndOnlyUnknownOnesAreCounted() {
        take(entry("1", null), entry("2", null), entry("3", null));
        this.answers.add((messages) -> {
            throw new BatchSendException(List.of(result(messages.get(0), SendOutcome.SCHEDULED)),
                    List.of(messages.get(1)), List.of(messages.get(2)), new IllegalStateException("away"));
        });

        Migration.QueueMoves moves = copy();

        assertThat(this.sends).containsExactly(List.of("1", "2", "3"), List.of("2", "3"));
        InOrder order = inOrder(this.source, this.target);
        order.verify(this.target).sendAll(any());
        order.verify(this.source).settle("orders", sent("1"));
        order.verify(this.source).count("orders", "repeated", 1);
        order.verify(this.target).sendAll(any());
        order.verify(this.source).settle("orders", sent("2", "3"));
        assertThat(List.of(moves.sent(), moves.repeated())).containsExactly(3L, 1L);
    }

    @Test
    void ofTwoMessagesWithOneIdTheSecondIsSentAgain() {
        take(entry("1", "order-1"), entry("2", "order-1"));
        this.answers.add((messages) -> {
            throw new BatchSendException(List.of(result(messages.get(0), SendOutcome.SCHEDULED)),
                    List.of(messages.get(1)), List.of(), new IllegalStateException("away"));
        });

        assertThat(copy().repeated()).isZero();

        InOrder order = inOrder(this.source);
        order.verify(this.source).settle("orders", sent("1"));
        order.verify(this.source).settle("orders", sent("2"));
    }

    @Test
    void aMessageWhoseIdIsHeldIsSentAgainAloneIfTheSendWithItsOwnIdFails() {
        take(entry("1", "order-1"), entry("2", null));
        this.answers.add((messages) -> List.of(result(messages.get(0), SendOutcome.KEPT),
                result(messages.get(1), SendOutcome.SCHEDULED)));
        this.answers.add((messages) -> List.of(result(messages.get(0), SendOutcome.KEPT)));
        given(this.target.send(any(DelayedMessage.class)))
            .willThrow(new StoreUnavailableException("away", Effect.UNKNOWN, null))
            .willAnswer((call) -> result(call.getArgument(0), SendOutcome.SCHEDULED));

        Migration.QueueMoves moves = copy();

        assertThat(this.sends).containsExactly(List.of("order-1", "2"), List.of("order-1"));
        InOrder order = inOrder(this.source);
        order.verify(this.source).settle("orders", sent("2"));
        order.verify(this.source).count("orders", "repeated", 1);
        order.verify(this.source).settle("orders", sent("1"));
        assertThat(List.of(moves.sent(), moves.renamed(), moves.repeated())).containsExactly(2L, 1L, 1L);
    }

    @Test
    void ofMessagesThatAreSentOneByOneOnlyTheOthersAreSentAgain() {
        take(entry("1", null), entry("2", null), entry("3", null));
        this.answers.add((messages) -> {
            throw new IllegalArgumentException("One is too large");
        });
        this.answers.add((messages) -> List.of(result(messages.get(0), SendOutcome.SCHEDULED)));
        this.answers.add((messages) -> {
            throw new StoreUnavailableException("away", Effect.NONE, null);
        });

        assertThat(copy().repeated()).isZero();

        assertThat(this.sends).containsExactly(List.of("1", "2", "3"), List.of("1"), List.of("2"), List.of("2", "3"));
    }

    private static SourceEntry entry(String id, @Nullable String businessId) {
        return SourceEntry.of(id, Instant.EPOCH, new byte[0]).with(businessId, Map.of());
    }

    private static SendResult result(DelayedMessage message, SendOutcome outcome) {
        return new SendResult("orders", message.id().orElseThrow(), null, outcome);
    }

    private static List<EntryOutcome> sent(String... ids) {
        return Stream.of(ids).map(EntryOutcome::sent).toList();
    }

    /** Prepares the entries that wait. */
    private void take(SourceEntry... entries) {
        given(this.source.take(eq("orders"), any(), anyInt())).willReturn(List.of(entries)).willReturn(List.of());
    }

    private Migration.QueueMoves copy() {
        Map<String, Migration.QueueMoves> moves = new Migration(this.source, this.target, (entry) -> "text",
                JsonMapper.builder().build(), new Migration.Settings(QueueMapping.of(List.of()),
                        new MoveRate(10, 0, () -> 0), this.stop, (queue, number) -> {
                        }, () -> 0))
            .copy();
        return Objects.requireNonNull(moves.get("orders"));
    }

}
