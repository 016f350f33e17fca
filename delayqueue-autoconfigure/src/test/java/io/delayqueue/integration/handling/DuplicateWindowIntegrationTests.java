package io.delayqueue.integration.handling;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;

import io.delayqueue.DelayedMessage;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.listener.DelayedListenerEndpoint;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P8: an id whose message was handled by a listener, dead-lettered, or received, on any
 * node, is kept out by its window, among messages that have none.
 */
@Tag("server")
class DuplicateWindowIntegrationTests {

    private static final String QUEUE = "confirmation";

    private static final int MESSAGES = 60;

    private final RedisServer redis = RedisServer.shared(RedisBinary.preferred());

    @RegisterExtension
    final Applications applications = new Applications().examined();

    private final Queue<Integer> handled = new ConcurrentLinkedQueue<>();

    private static List<DelayedMessage> messages() {
        return IntStream.range(0, MESSAGES).mapToObj((i) -> {
            DelayedMessage.Builder message = DelayedMessage.builder(QUEUE, i).id("request-" + i);
            return (i % 2 == 0) ? message.duplicateWindow(Duration.ofMinutes(10)).build() : message.build();
        }).toList();
    }

    private static DelayedMessage message(String id) {
        return DelayedMessage.builder(QUEUE, 0).id(id).duplicateWindow(Duration.ofMinutes(10)).build();
    }

    @Test
    void onlyIdsWithAWindowAreKeptOutAfterListenersHaveHandledThem() {
        Application one = this.applications.withoutHandler(this.redis);
        Application other = this.applications.withoutHandler(this.redis);
        List.of(one, other)
            .forEach((node) -> node.listeners()
                .register(DelayedListenerEndpoint.builder("confirm", QUEUE)
                    .handler(Integer.class, (number, delivery) -> this.handled.add(number))
                    .build()));
        one.queue().sendAll(messages());
        Applications.awaitTrue("all are acknowledged", () -> this.handled.size() == MESSAGES && isEmpty(one));

        List<SendResult> again = other.queue().sendAll(messages());

        assertThat(again).filteredOn((result) -> Integer.parseInt(result.id().substring(8)) % 2 == 0)
            .extracting(SendResult::outcome)
            .containsOnly(SendOutcome.DEDUPLICATED);
        assertThat(again).filteredOn((result) -> Integer.parseInt(result.id().substring(8)) % 2 == 1)
            .extracting(SendResult::outcome)
            .containsOnly(SendOutcome.SCHEDULED);
        Applications.awaitTrue("those without a window are handled again",
                () -> this.handled.size() == MESSAGES + MESSAGES / 2 && isEmpty(one));
        messages().forEach((message) -> one.queue().cancel(QUEUE, message.id().orElseThrow()));
        this.applications.assertNoKeysLeft(this.redis);
    }

    private static boolean isEmpty(Application node) {
        return node.queue().statistics(QUEUE).scheduled() + node.queue().statistics(QUEUE).leased() == 0;
    }

    @Test
    void receivedMessagesBeginTheirWindowsToo() {
        Application one = this.applications.withoutHandler(this.redis);
        one.queue().send(message("acknowledged"));
        assertThat(one.queue().receive(QUEUE, Duration.ofSeconds(10)).orElseThrow().acknowledge()).isTrue();
        one.queue().send(message("dead"));
        assertThat(one.queue().receive(QUEUE, Duration.ofSeconds(10)).orElseThrow().deadLetter("no longer needed"))
            .isTrue();

        assertThat(one.queue().send(message("acknowledged")).outcome()).isEqualTo(SendOutcome.DEDUPLICATED);
        assertThat(one.queue().send(message("dead")).outcome()).isEqualTo(SendOutcome.DEDUPLICATED);
        String deadLetter = one.queue().deadLetters(QUEUE).list(null, 1).deadLetters().get(0).id();
        assertThat(one.queue().deadLetters(QUEUE).purge(deadLetter)).isTrue();
        one.queue().cancel(QUEUE, "acknowledged");
        this.applications.assertNoKeysLeft(this.redis);
    }

}
