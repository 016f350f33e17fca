package io.delayqueue.listener.handler;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

import io.delayqueue.Delivery;
import io.delayqueue.listener.handler.HandlerAvailability.Attempt;
import io.delayqueue.store.ClaimedMessage;
import org.jspecify.annotations.Nullable;

/**
 * Calls a handler in a transaction that commits if the message is to be acknowledged. A
 * handler that releases or dead-letters its message rolls the transaction back. While no
 * transaction can be begun or ended, the handler is unavailable.
 */
final class TransactionalHandler implements MessageHandler {

    private final MessageHandler handler;

    private final HandlerTransactions transactions;

    private final HandlerAvailability availability;

    /**
     * Creates a handler.
     * @param name the name of the other handler, for the log
     */
    TransactionalHandler(MessageHandler handler, HandlerTransactions transactions, String name) {
        this.handler = handler;
        this.transactions = transactions;
        this.availability = new HandlerAvailability("Messages of listener method '%s'".formatted(name),
                "handled in a transaction", System::nanoTime);
    }

    @Override
    public Duration untilAvailable() {
        return this.availability.untilAvailable();
    }

    @Override
    public int claimLimit() {
        return this.availability.isAvailable() ? Integer.MAX_VALUE : 1;
    }

    @Override
    public @Nullable HandlerOutage outage() {
        return this.availability.outage();
    }

    @Override
    public Call prepare(ClaimedMessage message, Delivery delivery) throws Exception {
        DecisionRecorder recorder = new DecisionRecorder(delivery);
        Call call = this.handler.prepare(message, recorder);
        return new Call() {

            @Override
            public @Nullable CompletionStage<?> invoke(Executor continuations) throws Throwable {
                execute(message, () -> {
                    call.invoke(continuations);
                    return !recorder.decided;
                });
                return null;
            }

            @Override
            public Map<String, String> headers() {
                return call.headers();
            }

        };
    }

    private void execute(ClaimedMessage message, HandlerTransactions.Handler handler) throws Throwable {
        Attempt attempt = this.availability.begin();
        if (attempt == Attempt.REJECTED) {
            throw new HandlerUnavailableException("Another message shows whether a transaction can be begun", null);
        }
        try {
            this.transactions.execute(message, () -> {
                this.availability.confirmed(attempt);
                return handler.call();
            });
        }
        catch (HandlerUnavailableException ex) {
            if (ex.delay() == null) {
                this.availability.unavailable(attempt, (ex.getCause() != null) ? ex.getCause() : ex);
            }
            else {
                this.availability.confirmed(attempt);
            }
            throw ex;
        }
        catch (Throwable ex) {
            this.availability.confirmed(attempt);
            throw ex;
        }
        this.availability.confirmed(attempt);
    }

    /** Records whether the handler decided to settle its message in another way. */
    private static final class DecisionRecorder implements Delivery {

        private final Delivery delivery;

        private volatile boolean decided;

        DecisionRecorder(Delivery delivery) {
            this.delivery = delivery;
        }

        @Override
        public String queue() {
            return this.delivery.queue();
        }

        @Override
        public String id() {
            return this.delivery.id();
        }

        @Override
        public Optional<String> group() {
            return this.delivery.group();
        }

        @Override
        public int attempt() {
            return this.delivery.attempt();
        }

        @Override
        public int lapses() {
            return this.delivery.lapses();
        }

        @Override
        public Instant dueAt() {
            return this.delivery.dueAt();
        }

        @Override
        public Duration lateness() {
            return this.delivery.lateness();
        }

        @Override
        public boolean isLeased() {
            return this.delivery.isLeased();
        }

        @Override
        public boolean extend(Duration leaseTime) {
            return this.delivery.extend(leaseTime);
        }

        @Override
        public void retryAfter(Duration delay) {
            this.delivery.retryAfter(delay);
            this.decided = true;
        }

        @Override
        public void deadLetter(@Nullable String reason) {
            this.delivery.deadLetter(reason);
            this.decided = true;
        }

        @Override
        public void fail(Throwable error) {
            this.delivery.fail(error);
            this.decided = true;
        }

        @Override
        public String toString() {
            return this.delivery.toString();
        }

    }

}
