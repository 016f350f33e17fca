package io.delayqueue.integration.observation;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterBulkResult;
import io.delayqueue.DeadLetterFilter;
import io.delayqueue.DeadLetterOperations;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** P9: many dead letters at once are acted on as asked, and no others, in both stores. */
@Tag("server")
class BulkDeadLetterTests {

    private static final String QUEUE = "orders";

    private final RedisServer redis = RedisServer.shared(RedisBinary.preferred());

    @RegisterExtension
    final Applications applications = new Applications();

    private DelayQueueOperations queue(String store) {
        return this.applications
            .withoutHandler(this.redis, "delayqueue.store=" + store, "delayqueue.queues.orders.partitions=2")
            .queue();
    }

    private static void kill(DelayQueueOperations queue, String id, @Nullable String group, String cause) {
        DelayedMessage.Builder message = DelayedMessage.builder(QUEUE, new Order(1)).id(id);
        queue.send(((group != null) ? message.group(group) : message).build());
        ReceivedMessage taken = queue.receive(QUEUE, Applications.TIMEOUT).orElseThrow();
        assertThat(taken.deadLetter(cause)).isTrue();
    }

    private static DeadLetterBulkResult all(Function<@Nullable String, DeadLetterBulkResult> step) {
        DeadLetterBulkResult sum = new DeadLetterBulkResult(0, 0, 0, null);
        String cursor = null;
        do {
            DeadLetterBulkResult done = step.apply(cursor);
            sum = new DeadLetterBulkResult(sum.examined() + done.examined(), sum.matched() + done.matched(),
                    sum.changed() + done.changed(), null);
            cursor = done.nextCursor();
        }
        while (cursor != null);
        return sum;
    }

    private static List<String> left(DeadLetterOperations deadLetters) {
        return deadLetters.list(null, 100).deadLetters().stream().map(DeadLetter::messageId).sorted().toList();
    }

    @ParameterizedTest
    @ValueSource(strings = { "redis", "memory" })
    void whatAFilterMeansIsCountedRedrivenAndPurged(String store) {
        DelayQueueOperations queue = queue(store);
        kill(queue, "a-1", null, "java.net.ConnectException: refused");
        kill(queue, "a-2", "g", "no such customer");
        kill(queue, "b-1", "g", "java.net.ConnectException: REFUSED");
        kill(queue, "b-2", null, "no such customer");
        DeadLetterOperations deadLetters = queue.deadLetters(QUEUE);
        DeadLetterFilter refused = DeadLetterFilter.ALL.withCauseContaining("refused");

        assertThat(deadLetters.count(refused, null)).isEqualTo(new DeadLetterBulkResult(4, 2, 0, null));
        assertThat(deadLetters.count(DeadLetterFilter.ALL.withGroup("g").withIdPrefix("a"), null))
            .isEqualTo(new DeadLetterBulkResult(4, 1, 0, null));
        assertThat(left(deadLetters)).hasSize(4);

        assertThat(deadLetters.redrive(refused, null)).isEqualTo(new DeadLetterBulkResult(4, 2, 2, null));
        assertThat(left(deadLetters)).containsExactly("a-2", "b-2");
        assertThat(queue.statistics(QUEUE).scheduled()).isEqualTo(2);

        assertThat(deadLetters.purge(DeadLetterFilter.ALL.withIdPrefix("b"), null))
            .isEqualTo(new DeadLetterBulkResult(2, 1, 1, null));
        assertThat(left(deadLetters)).containsExactly("a-2");
    }

    @ParameterizedTest
    @ValueSource(strings = { "redis", "memory" })
    void aSpanOfTimeSelectsMessagesDeadLetteredInIt(String store) throws InterruptedException {
        DelayQueueOperations queue = queue(store);
        for (int i = 0; i < 5; i++) {
            kill(queue, "m-" + i, null, "why not");
            // Real time: the stores stamp dead letters in milliseconds, and these must
            // differ.
            Thread.sleep(2);
        }
        DeadLetterOperations deadLetters = queue.deadLetters(QUEUE);
        List<Instant> deaths = deadLetters.list(null, 100)
            .deadLetters()
            .stream()
            .map(DeadLetter::deadLetteredAt)
            .sorted()
            .toList();
        DeadLetterFilter middle = DeadLetterFilter.ALL.withDeadLetteredBetween(deaths.get(1), deaths.get(4));

        assertThat(all((cursor) -> deadLetters.purge(middle, cursor)).changed()).isEqualTo(3);
        assertThat(left(deadLetters)).containsExactly("m-0", "m-4");
        assertThat(deadLetters.count(DeadLetterFilter.ALL.withDeadLetteredBetween(null, Instant.MIN), null).examined())
            .isZero();
        assertThat(deadLetters.count(DeadLetterFilter.ALL.withDeadLetteredBetween(Instant.MIN, Instant.MAX), null)
            .matched()).isEqualTo(2);
    }

    @Test
    void aStepIsBoundedAndTheNextGoesOnWhereItEnded() {
        DelayQueueOperations queue = queue("memory");
        for (int i = 0; i < 1_205; i++) {
            kill(queue, "m-" + i, null, "why not");
        }
        DeadLetterOperations deadLetters = queue.deadLetters(QUEUE);
        queue.send(DelayedMessage.builder(QUEUE, new Order(1)).id("m-7").delay(Duration.ofHours(1)).build());

        DeadLetterBulkResult first = deadLetters.redrive(DeadLetterFilter.ALL, null);
        assertThat(first.examined()).isEqualTo(DeadLetterOperations.MAX_PER_STEP);
        assertThat(first.nextCursor()).isNotNull();
        assertThat(all(
                (cursor) -> deadLetters.redrive(DeadLetterFilter.ALL, (cursor != null) ? cursor : first.nextCursor())))
            .isEqualTo(new DeadLetterBulkResult(705, 705, 704, null));
        assertThat(left(deadLetters)).containsExactly("m-7");
        assertThatIllegalArgumentException().isThrownBy(() -> deadLetters.purge(DeadLetterFilter.ALL, "?"));
    }

}
