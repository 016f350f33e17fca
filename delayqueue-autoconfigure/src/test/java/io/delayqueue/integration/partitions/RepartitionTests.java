package io.delayqueue.integration.partitions;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.delayqueue.CancelResult;
import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.QueueStatistics;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.RedriveResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests a queue whose number of partitions has changed, on a real Redis. */
@Tag("server")
class RepartitionTests {

    private static final String QUEUE = OrderHandler.QUEUE;

    private static final String FOUR = "delayqueue.queues." + QUEUE + ".partitions=4";

    private static final Duration FAR = Duration.ofHours(1);

    private final RedisServer redis = RedisServer.shared(RedisBinary.preferred());

    @RegisterExtension
    final Applications applications = new Applications().examined();

    private DelayQueueOperations sender(String... properties) {
        return this.applications.withoutHandler(this.redis, properties).queue();
    }

    private static DelayedMessage message(String id, @Nullable String group, Duration delay) {
        DelayedMessage.Builder builder = DelayedMessage.builder(QUEUE, new Order(1)).id(id).delay(delay);
        return ((group != null) ? builder.group(group) : builder).build();
    }

    private static void kill(DelayQueueOperations queue, int count) {
        for (int i = 0; i < count; i++) {
            queue.receive(QUEUE, Applications.TIMEOUT).orElseThrow().deadLetter("why not");
        }
    }

    private static List<String> receiveAll(DelayQueueOperations queue) {
        List<String> received = new ArrayList<>();
        Optional<ReceivedMessage> message = queue.receive(QUEUE, Duration.ZERO);
        while (message.isPresent()) {
            received.add(message.get().id());
            message = queue.receive(QUEUE, Duration.ZERO);
        }
        return received;
    }

    @Test
    void aRedriveGoesWhereItsGroupLivesNow() {
        DelayQueueOperations queue = sender();
        for (int group = 0; group < 4; group++) {
            queue.send(message("old-" + group, "g" + group, Duration.ZERO));
        }
        kill(queue, 4);
        queue.repartition(QUEUE, 4);
        for (int group = 0; group < 4; group++) {
            queue.send(message("new-" + group, "g" + group, Duration.ZERO));
        }

        assertThat(queue.deadLetters(QUEUE).redriveAll()).isEqualTo(4);

        assertThat(queue.statistics(QUEUE).dead()).isZero();
        assertThat(receiveAll(queue)).containsExactlyInAnyOrder("new-0", "new-1", "new-2", "new-3");
        assertThat(queue.statistics(QUEUE).scheduled()).isEqualTo(4);
    }

    @Test
    void aRedriveWaitsForAnIdThatIsHandledInAnotherGroup() {
        DelayQueueOperations queue = sender();
        queue.repartition(QUEUE, 4);
        queue.send(message("order", "g", Duration.ZERO));
        kill(queue, 1);
        String deadLetter = queue.deadLetters(QUEUE).list(null, 1).deadLetters().get(0).id();
        for (int group = 0; group < 8; group++) {
            // In each partition, that of the letter included.
            queue.send(message("order", "other-" + group, Duration.ZERO));
            ReceivedMessage leased = queue.receive(QUEUE, Applications.TIMEOUT).orElseThrow();

            assertThat(queue.deadLetters(QUEUE).redrive(deadLetter)).isEqualTo(RedriveResult.ID_IN_USE);

            assertThat(leased.acknowledge()).isTrue();
        }
        assertThat(queue.deadLetters(QUEUE).redrive(deadLetter)).isEqualTo(RedriveResult.REDRIVEN);
        assertThat(queue.find(QUEUE, "order").orElseThrow().group()).isEqualTo("g");
    }

    @Test
    void aSenderWithAnOldLayoutReachesTheWholeQueue() {
        DelayQueueOperations stale = sender();
        stale.send(message("order-1", null, Duration.ZERO));
        stale.send(message("order-2", null, Duration.ZERO));
        kill(stale, 2);
        List<DeadLetter> deadLetters = stale.deadLetters(QUEUE).list(null, 10).deadLetters();
        DelayQueueOperations other = sender();
        other.repartition(QUEUE, 4);
        for (int i = 1; i < 10; i++) {
            other.send(message("order-" + i, null, FAR));
        }

        QueueStatistics statistics = stale.statistics(QUEUE);
        assertThat(statistics.scheduled()).isEqualTo(9);
        assertThat(statistics.dead()).isEqualTo(2);
        for (DeadLetter deadLetter : deadLetters) {
            assertThat(stale.deadLetters(QUEUE).redrive(deadLetter.id())).isEqualTo(RedriveResult.ID_IN_USE);
        }
        assertThat(stale.deadLetters(QUEUE).purgeAll()).isEqualTo(2);
        assertThat(other.statistics(QUEUE).scheduled()).isEqualTo(9);
    }

    @Test
    void aQueueOfDeadLettersOnlyKeepsItsOldPartitions() {
        DelayQueueOperations one = sender();
        for (int i = 0; i < 8; i++) {
            one.send(message("order-" + i, null, Duration.ZERO));
        }
        kill(one, 8);
        DelayQueueOperations four = sender(FOUR);

        assertThat(four.deadLetters(QUEUE).redriveAll()).isEqualTo(8);

        for (int i = 0; i < 8; i++) {
            assertThat(four.send(message("order-" + i, null, FAR)).outcome()).isEqualTo(SendOutcome.KEPT);
            assertThat(four.cancel(QUEUE, "order-" + i)).isEqualTo(CancelResult.CANCELLED);
        }
        assertThat(receiveAll(four)).isEmpty();
    }

    @Test
    void aRecordThatTheFirstPartitionHasLostIsWrittenAgain() {
        DelayQueueOperations queue = sender();
        queue.send(message("x", null, FAR));
        queue.repartition(QUEUE, 4);
        queue.repartition(QUEUE, 6);
        String record = this.applications.namespace() + ":{" + QUEUE + "}:partitions";
        String last = this.redis.commands().get(record);
        this.redis.commands().set(record, "1|1,4");

        DelayQueueOperations fresh = sender();
        for (int i = 0; i < 12; i++) {
            assertThat(fresh.send(message("order-" + i, null, FAR)).outcome()).isEqualTo(SendOutcome.SCHEDULED);
        }

        assertThat(this.redis.commands().get(record)).isEqualTo(last);
    }

    @Test
    void pagesOfDeadLettersOfOneMillisecondEnd() {
        DelayQueueOperations four = sender(FOUR);
        assertThat(four.find(QUEUE, "nothing")).isEmpty();
        String[][] deadLetters = { { "", "b~1" }, { ":1", "c~1" }, { ":1", "a~1" } };
        for (String[] deadLetter : deadLetters) {
            String stem = this.applications.namespace() + ":{" + QUEUE + deadLetter[0] + "}:";
            this.redis.commands().zadd(stem + "dead-order", 1_700_000_000_000d, deadLetter[1]);
            this.redis.commands()
                .hset(stem + "dead-letters", deadLetter[1], "1700000000000:1700000000000:1:0:0:4:1:0:x");
        }

        List<String> seen = new ArrayList<>();
        String cursor = null;
        do {
            DeadLetterPage page = four.deadLetters(QUEUE).list(cursor, 1);
            page.deadLetters().forEach((deadLetter) -> seen.add(deadLetter.id()));
            cursor = page.nextCursor();
        }
        while (cursor != null && seen.size() < 12);

        assertThat(seen).containsExactly("c~1", "b~1", "a~1");
        assertThat(four.deadLetters(QUEUE).redrive("a~1")).isEqualTo(RedriveResult.EMPTY);
    }

    @Test
    void receiveLearnsOfNewPartitions() {
        DelayQueueOperations receiver = sender();
        assertThat(receiver.receive(QUEUE, Duration.ZERO)).isEmpty();
        DelayQueueOperations four = sender(FOUR);
        List<String> sent = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            sent.add(four.send(message("order-" + i, null, Duration.ZERO)).id());
        }

        assertThat(receiveAll(receiver)).containsExactlyInAnyOrderElementsOf(sent);
    }

}
