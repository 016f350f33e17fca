package io.delayqueue.autoconfigure;

import java.time.Duration;
import java.util.List;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DeadLetter;
import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedListenerErrorHandler;
import io.delayqueue.Delivery;
import io.delayqueue.ErrorDecision;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Checks which error handler decides for a listener. */
class DelayedListenerErrorHandlerTests {

    private final ApplicationContextRunner application = new ApplicationContextRunner()
        .withConfiguration(
                AutoConfigurations.of(DelayQueueAutoConfiguration.class, DelayQueueListenerAutoConfiguration.class))
        .withPropertyValues("delayqueue.store=memory", "delayqueue.listener.max-attempts=1")
        .withBean(FailingListeners.class);

    private static List<String> reasons(DelayQueueOperations operations, String... queues) {
        for (String queue : queues) {
            operations.send(queue, "m", "payload", Duration.ZERO);
        }
        await().until(() -> List.of(queues).stream().allMatch((queue) -> deadLetter(operations, queue) != null));
        return List.of(queues).stream().map((queue) -> deadLetter(operations, queue).cause()).toList();
    }

    private static DeadLetter deadLetter(DelayQueueOperations operations, String queue) {
        List<DeadLetter> found = operations.deadLetters(queue).list(null, 1).deadLetters();
        return found.isEmpty() ? null : found.get(0);
    }

    @Test
    void theHandlerOfTheApplicationDecidesForListenersWithoutTheirOwn() {
        this.application
            .withBean("own", Named.class, () -> new Named("own"), (definition) -> definition.setFallback(true))
            .withBean("general", Named.class, () -> new Named("general"))
            .run((context) -> assertThat(reasons(context.getBean(DelayQueueOperations.class), "plain", "named", "made"))
                .containsExactly("general", "own", "expression"));
    }

    @Test
    void aListenerWithoutAHandlerFollowsItsSettingsIfNoneOfSeveralIsPrimary() {
        this.application.withBean("own", Named.class, () -> new Named("own"))
            .withBean("other", Named.class, () -> new Named("other"))
            .run((context) -> {
                List<String> reasons = reasons(context.getBean(DelayQueueOperations.class), "plain", "named");
                assertThat(reasons.get(0)).startsWith("java.lang.IllegalStateException: boom");
                assertThat(reasons.get(1)).isEqualTo("own");
            });
    }

    @Test
    void aHandlerMayUseTheQueues() {
        this.application.withBean("own", Named.class, () -> new Named("own"))
            .withBean(Sending.class)
            .withBean("primary", DelayedListenerErrorHandler.class, () -> (delivery, error) -> ErrorDecision.standard(),
                    (definition) -> definition.setPrimary(true))
            .run((context) -> assertThat(context).hasNotFailed());
    }

    static class FailingListeners {

        @DelayedListener("plain")
        void plain(String payload) {
            throw new IllegalStateException("boom");
        }

        @DelayedListener(queues = "named", errorHandler = "own")
        void named(String payload) {
            throw new IllegalStateException("boom");
        }

        @DelayedListener(queues = "made",
                errorHandler = "#{new io.delayqueue.autoconfigure.DelayedListenerErrorHandlerTests$Named('expression')}")
        void made(String payload) {
            throw new IllegalStateException("boom");
        }

    }

    /** Dead-letters each message with its name as the reason. */
    public record Named(String name) implements DelayedListenerErrorHandler {

        @Override
        public ErrorDecision handleError(Delivery delivery, Throwable error) {
            return ErrorDecision.deadLetter(this.name);
        }

    }

    /** Depends on beans that depend on the listeners. */
    static class Sending implements DelayedListenerErrorHandler {

        private final DelayQueueOperations operations;

        Sending(DelayQueueOperations operations) {
            this.operations = operations;
        }

        @Override
        public ErrorDecision handleError(Delivery delivery, Throwable error) {
            this.operations.send("failed", delivery.id());
            return ErrorDecision.standard();
        }

    }

}
