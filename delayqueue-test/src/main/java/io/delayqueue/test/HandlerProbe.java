package io.delayqueue.test;

import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;

import io.delayqueue.Delivery;
import io.delayqueue.listener.handler.CancellableStage;
import io.delayqueue.listener.handler.HandlerDecorator;
import io.delayqueue.listener.handler.HandlerOutage;
import io.delayqueue.listener.handler.MessageHandler;
import io.delayqueue.store.ClaimedMessage;
import org.jspecify.annotations.Nullable;

/**
 * Wraps the handlers of listeners: lists those that run, applies the faults that a test
 * has asked for, and holds handlers while a test moves time.
 * <p>
 * <strong>Threads.</strong> The handlers' threads; the test adds holds.
 */
final class HandlerProbe implements HandlerDecorator {

    private final QuietDetector quietDetector;

    private final Faults faults;

    private final List<Hold> holds = new CopyOnWriteArrayList<>();

    private @Nullable ListenerMessageStore store;

    HandlerProbe(QuietDetector quietDetector, Faults faults) {
        this.quietDetector = quietDetector;
        this.faults = faults;
    }

    /** Sets the store that withholds outcomes; called before a listener starts. */
    void store(ListenerMessageStore store) {
        this.store = store;
    }

    void add(Hold hold) {
        this.holds.add(hold);
    }

    void remove(Hold hold) {
        hold.release();
        this.holds.remove(hold);
        this.quietDetector.changed();
    }

    @Override
    public MessageHandler decorate(MessageHandler handler, String listenerId) {
        return new ProbedHandler(handler, listenerId);
    }

    private void begin(Handling handling) throws Throwable {
        Delivery delivery = handling.delivery();
        this.holds.stream().filter((hold) -> hold.attach(handling)).findFirst().ifPresent(handling::hold);
        ListenerMessageStore store = this.store;
        if (store != null && this.faults.takeCrash(delivery.id())) {
            store.crash(delivery);
        }
        if (store != null && this.faults.takeLoss(delivery.id())) {
            lose(delivery, store);
        }
        Throwable failure = this.faults.takeFailure(delivery.queue());
        if (failure != null) {
            throw failure;
        }
    }

    /** Makes a running handler lose its lease; returns whether there is one. */
    boolean lose(String id) {
        ListenerMessageStore store = this.store;
        List<Handling> running = this.quietDetector.handlings((handling) -> handling.hasId(id));
        if (store != null) {
            running.forEach((handling) -> lose(handling.delivery(), store));
        }
        return !running.isEmpty();
    }

    /** Makes the delivery notice at once, as its next renewal would. */
    private static void lose(Delivery delivery, ListenerMessageStore store) {
        store.lose(delivery);
        delivery.extend(Duration.ofSeconds(1));
    }

    /**
     * Calls a handler.
     * @param handlings those of the messages that it receives
     */
    private @Nullable CompletionStage<?> invoke(MessageHandler.Call call, List<Handling> handlings,
            Executor continuations) throws Throwable {
        CompletionStage<?> stage = null;
        boolean returned = false;
        try {
            for (Handling handling : handlings) {
                begin(handling);
            }
            stage = call.invoke(continuations);
            if (stage == null) {
                for (Hold hold : holds(handlings)) {
                    hold.await();
                }
            }
            returned = true;
        }
        finally {
            if (!returned || stage == null) {
                handlings.forEach(this::end);
            }
        }
        return (stage != null) ? await(stage, handlings) : null;
    }

    private static List<Hold> holds(List<Handling> handlings) {
        return handlings.stream().map(Handling::hold).filter(Objects::nonNull).toList();
    }

    private void end(Handling handling) {
        Hold hold = handling.hold();
        if (hold != null) {
            hold.release();
        }
        this.quietDetector.end(handling);
    }

    private CompletionStage<?> await(CompletionStage<?> stage, List<Handling> handlings) {
        handlings.forEach(Handling::returnedFuture);
        CompletableFuture<@Nullable Object> ended = endOf(stage, handlings);
        stage.whenComplete((value, failure) -> {
            if (failure != null) {
                complete(ended, failure, handlings);
            }
            else {
                whenReleased(holds(handlings).iterator(), () -> complete(ended, null, handlings));
            }
        });
        return ended;
    }

    /** Returns a future that passes a cancellation on. */
    private CompletableFuture<@Nullable Object> endOf(CompletionStage<?> stage, List<Handling> handlings) {
        if (stage instanceof CancellableStage cancellable) {
            return new ProbedStage(cancellable);
        }
        return new CompletableFuture<>() {

            @Override
            public boolean cancel(boolean mayInterruptIfRunning) {
                try {
                    stage.toCompletableFuture().cancel(mayInterruptIfRunning);
                }
                catch (UnsupportedOperationException ex) {
                    // Goes on without a lease, as without this object.
                }
                handlings.forEach(HandlerProbe.this::end);
                return super.cancel(mayInterruptIfRunning);
            }

        };
    }

    private static void whenReleased(Iterator<Hold> holds, Runnable task) {
        if (holds.hasNext()) {
            holds.next().whenReleased(() -> whenReleased(holds, task));
        }
        else {
            task.run();
        }
    }

    private void complete(CompletableFuture<@Nullable Object> ended, @Nullable Throwable failure,
            List<Handling> handlings) {
        if (failure != null) {
            ended.completeExceptionally(failure);
        }
        else {
            ended.complete(null);
        }
        handlings.forEach(this::end);
    }

    /** Passes a request for cancellation on. */
    private static final class ProbedStage extends CompletableFuture<@Nullable Object> implements CancellableStage {

        private final CancellableStage stage;

        ProbedStage(CancellableStage stage) {
            this.stage = stage;
        }

        @Override
        public void requestCancellation() {
            this.stage.requestCancellation();
        }

    }

    private final class ProbedHandler implements MessageHandler {

        private final MessageHandler handler;

        private final String listenerId;

        ProbedHandler(MessageHandler handler, String listenerId) {
            this.handler = handler;
            this.listenerId = listenerId;
        }

        @Override
        public Call prepare(ClaimedMessage message, Delivery delivery) throws Exception {
            return new ProbedCall(this.handler.prepare(message, delivery), List.of(delivery));
        }

        @Override
        public boolean isBatch() {
            return this.handler.isBatch();
        }

        @Override
        public Call combine(List<Call> calls) throws Exception {
            List<ProbedCall> items = calls.stream().map(ProbedCall.class::cast).toList();
            return new ProbedCall(this.handler.combine(items.stream().map((item) -> item.call).toList()),
                    items.stream().flatMap((item) -> item.deliveries.stream()).toList());
        }

        @Override
        public Duration untilAvailable() {
            return this.handler.untilAvailable();
        }

        @Override
        public int claimLimit() {
            return this.handler.claimLimit();
        }

        @Override
        public @Nullable HandlerOutage outage() {
            return this.handler.outage();
        }

        /** Wraps the call with one message, or with those of a batch. */
        private final class ProbedCall implements Call {

            private final Call call;

            private final List<Delivery> deliveries;

            ProbedCall(Call call, List<Delivery> deliveries) {
                this.call = call;
                this.deliveries = deliveries;
            }

            @Override
            public @Nullable CompletionStage<?> invoke(Executor continuations) throws Throwable {
                return HandlerProbe.this.invoke(this.call, this.deliveries.stream()
                    .map((delivery) -> HandlerProbe.this.quietDetector.begin(ProbedHandler.this.listenerId, delivery))
                    .toList(), continuations);
            }

            @Override
            public Map<String, String> headers() {
                return this.call.headers();
            }

        }

    }

}
