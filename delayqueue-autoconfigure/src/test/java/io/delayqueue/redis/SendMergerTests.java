package io.delayqueue.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.PartitionTarget;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Merged sends fail and succeed as if each were sent alone, and no sender waits where few
 * send.
 */
class SendMergerTests {

    private static final PartitionTarget TARGET = PartitionTarget.first(new QueueName("orders"));

    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final List<Sent> sent = new ArrayList<>();

    private final List<CompletableFuture<List<SendResult>>> answers = new ArrayList<>();

    private @Nullable Error error;

    private final AtomicLong nanos = new AtomicLong();

    private final SendMerger merger = new SendMerger(this::call, LIMIT, this.nanos::get);

    private record Sent(List<String> ids, Duration limit, CompletableFuture<List<SendResult>> answer) {

        void answered() {
            this.answer.complete(this.ids.stream().map(SendMergerTests::result).toList());
        }

    }

    private CompletableFuture<List<SendResult>> call(PartitionTarget target, List<NewMessage> messages,
            Duration limit) {
        if (this.error != null) {
            throw this.error;
        }
        Sent call = new Sent(messages.stream().map(NewMessage::id).toList(), limit, new CompletableFuture<>());
        this.sent.add(call);
        return call.answer();
    }

    private static SendResult result(String id) {
        return new SendResult("orders", id, Instant.EPOCH, SendOutcome.SCHEDULED);
    }

    private void send(int from, int to) {
        IntStream.range(from, to).forEach((i) -> send("m" + i, 10));
    }

    private void send(String id, int bytes) {
        this.answers.add(this.merger.schedule(TARGET, new NewMessage(id, true, DueTime.NOW, OnDuplicate.KEEP,
                MessageLimits.NORMAL_PRIORITY, null, null, "x".repeat(bytes).getBytes(StandardCharsets.US_ASCII))));
    }

    private List<Integer> sizes() {
        return this.sent.stream().map((call) -> call.ids().size()).toList();
    }

    private DelayQueueException failureOf(int answer) {
        assertThat(this.answers.get(answer)).isCompletedExceptionally();
        try {
            this.answers.get(answer).join();
            throw new AssertionError("succeeded");
        }
        catch (CompletionException ex) {
            return (DelayQueueException) ex.getCause();
        }
    }

    @Test
    void aLoneSenderIsNeverKeptWaiting() {
        for (int i = 0; i < 10; i++) {
            send(i, i + 1);
            assertThat(this.sent).hasSize(i + 1);
            this.sent.get(i).answered();
        }

        assertThat(this.answers).allMatch(CompletableFuture::isDone);
    }

    /** Or further sends would wait for the answers of calls that never began. */
    @Test
    void callsThatEndWithAnErrorAreNotPending() {
        this.error = new StackOverflowError("of a test");
        send(0, SendMerger.MAX_CALLS);
        this.error = null;
        send(SendMerger.MAX_CALLS, SendMerger.MAX_CALLS + 1);

        assertThat(this.answers.subList(0, SendMerger.MAX_CALLS)).allMatch(CompletableFuture::isCompletedExceptionally);
        assertThat(sizes()).containsExactly(1);
    }

    /** The same for errors before and after a call, as of an exhausted stack. */
    @Test
    void callsThatNeverBeganAreNotPending() {
        AtomicInteger reads = new AtomicInteger();
        SendMerger exhausted = new SendMerger(this::call, LIMIT, () -> {
            // The first read of a send is that of its time.
            if (reads.incrementAndGet() % 2 == 0 && reads.get() <= 2 * SendMerger.MAX_CALLS) {
                throw new StackOverflowError("of a test");
            }
            return 0;
        });
        for (int i = 0; i <= SendMerger.MAX_CALLS; i++) {
            this.answers.add(exhausted.schedule(TARGET, message("m" + i, true)));
        }

        assertThat(sizes()).containsExactly(1);
        answerAll();
        assertThat(this.answers).allMatch(CompletableFuture::isDone);
        assertThat(failureOf(0)).isInstanceOf(StoreUnavailableException.class);
    }

    /** Or four calls would be less than a network of a millisecond can carry. */
    @Test
    void slowNetworksHaveMoreCalls() {
        send(0, 1);
        this.nanos.addAndGet(20 * SendMerger.CALL_NANOS);
        answerAll();
        send(1, 30);

        assertThat(pending()).isEqualTo(20);
        answerUntilNoneIsPending();
        send(30, 60);
        assertThat(pending()).as("after fast answers").isEqualTo(SendMerger.MAX_CALLS);
    }

    /** Or a server that stalls would get each message by a call of its own. */
    @Test
    void aServerThatStallsHasNotManyMoreCalls() {
        send(0, 1);
        this.nanos.addAndGet(Duration.ofSeconds(5).toNanos());
        answerAll();
        send(1, 100);

        assertThat(pending()).isEqualTo(SendMerger.MAX_DISTANT_CALLS);
    }

    @Test
    void theRoundTripGrowsWithCallsThatAreAlone() {
        for (int i = 0; i < 200; i++) {
            send(i, i + 1);
            this.nanos.addAndGet((i < 2) ? 1 : 20 * SendMerger.CALL_NANOS);
            answerAll();
        }
        send(200, 300);

        assertThat(pending()).isBetween(15L, 20L);
    }

    @Test
    void aFewSendersAreNotKeptWaiting() {
        send(0, SendMerger.MAX_CALLS);

        assertThat(sizes()).containsExactly(1, 1, 1, 1);
    }

    @Test
    void furtherSendsAreMergedWithTheNextAnswer() {
        send(0, 9);
        assertThat(sizes()).containsExactly(1, 1, 1, 1);

        this.sent.get(2).answered();

        assertThat(sizes()).containsExactly(1, 1, 1, 1, 5);
        assertThat(this.sent.get(4).ids()).containsExactly("m4", "m5", "m6", "m7", "m8");
        this.sent.get(4).answered();
        assertThat(this.answers.get(6).join()).containsExactly(result("m6"));
        assertThat(this.answers.get(0)).isNotDone();
    }

    @Test
    void afterABurstSendsAreNotKeptWaiting() {
        send(0, 9);
        for (int i = 0; i < this.sent.size(); i++) {
            this.sent.get(i).answered();
        }
        send(9, 9 + SendMerger.MAX_CALLS);

        assertThat(sizes()).containsExactly(1, 1, 1, 1, 5, 1, 1, 1, 1);
    }

    @Test
    void manySendersShareFewerCallsUntilFewSend() {
        int next = sendAsMany();
        assertThat(pending()).isEqualTo(SendMerger.MAX_LARGE_CALLS);

        answerUntilNoneIsPending();
        for (int i = 0; i < 100; i++) {
            send(next, ++next);
            answerAll();
        }
        send(next, next + SendMerger.MAX_CALLS);
        assertThat(pending()).isEqualTo(SendMerger.MAX_CALLS);
    }

    /** Or the latency of the network would limit what a partition can store. */
    @Test
    void fullCallsAreAsManyAsBefore() {
        int next = sendAsMany();

        send(next, next + 300);

        assertThat(pending()).isEqualTo(SendMerger.MAX_CALLS);
        answerUntilNoneIsPending();
    }

    /** Sends more between two answers than few senders could; returns the next number. */
    private int sendAsMany() {
        int next = 0;
        for (int i = 0; i < 100; i++) {
            send(next, next + 8);
            next += 8;
            this.sent.stream().filter((call) -> !call.answer().isDone()).findFirst().orElseThrow().answered();
        }
        return next;
    }

    private void answerUntilNoneIsPending() {
        while (pending() > 0) {
            answerAll();
        }
        assertThat(this.answers).allMatch(CompletableFuture::isDone);
    }

    private void answerAll() {
        List.copyOf(this.sent).stream().filter((call) -> !call.answer().isDone()).forEach(Sent::answered);
    }

    private long pending() {
        return this.sent.stream().filter((call) -> !call.answer().isDone()).count();
    }

    @Test
    void aCallHasAHundredMessagesAtMost() {
        send(0, 260);
        this.sent.get(0).answered();
        this.sent.get(1).answered();
        this.sent.get(2).answered();

        assertThat(sizes()).containsExactly(1, 1, 1, 1, 100, 100, 56);
    }

    @Test
    void aCallHasAMebibyteAtMost() {
        send(0, 4);
        for (int i = 4; i < 8; i++) {
            send("m" + i, 400_000);
        }
        send("large", 2 * SendMerger.MAX_BYTES);
        this.sent.get(0).answered();
        this.sent.get(1).answered();
        this.sent.get(2).answered();

        assertThat(sizes()).containsExactly(1, 1, 1, 1, 2, 2, 1);
    }

    @Test
    void anUnknownEffectIsUnknownForAllAndEachGetsItsOwnException() {
        send(0, 7);
        this.sent.get(0).answered();
        this.sent.get(4).answer().completeExceptionally(new StoreUnavailableException("lost", Effect.UNKNOWN, null));

        assertThat(List.of(failureOf(4), failureOf(5), failureOf(6))).doesNotHaveDuplicates()
            .allMatch((failure) -> failure.effect() == Effect.UNKNOWN && failure.getMessage().equals("lost"));
        assertThat(failureOf(4)).isNotSameAs(failureOf(5));
    }

    @Test
    void aRefusalIsResolvedForEachMessage() {
        send(0, 7);
        this.sent.get(0).answered();
        this.sent.get(4).answer().completeExceptionally(new StoreRefusedException("no", Effect.NONE, null));

        assertThat(sizes()).containsExactly(1, 1, 1, 1, 3, 1, 1, 1);
        this.sent.get(5).answered();
        this.sent.get(6).answer().completeExceptionally(new StoreRefusedException("still no", Effect.NONE, null));
        assertThat(this.answers.get(4).join()).containsExactly(result("m4"));
        assertThat(failureOf(5)).hasMessage("still no");
        assertThat(this.answers.get(6)).isNotDone();
    }

    @Test
    void theEarliestTimeLimitIsThatOfTheCall() {
        send(0, 5);
        this.nanos.addAndGet(Duration.ofSeconds(4).toNanos());
        send(5, 6);
        this.sent.get(0).answered();

        assertThat(this.sent.get(0).limit()).isEqualTo(LIMIT);
        assertThat(this.sent.get(4).ids()).containsExactly("m4", "m5");
        assertThat(this.sent.get(4).limit()).isEqualTo(Duration.ofSeconds(6));
    }

    @Test
    void aMessageThatWasNotSentWithinMostOfItsLimitIsNotStored() {
        send(0, 5);
        this.nanos.addAndGet(Duration.ofMillis(9500).toNanos());
        send(5, 6);
        this.sent.get(0).answer().completeExceptionally(new StoreUnavailableException("late", Effect.UNKNOWN, null));

        assertThat(failureOf(4).effect()).isEqualTo(Effect.NONE);
        assertThat(failureOf(0).effect()).isEqualTo(Effect.UNKNOWN);
        assertThat(this.sent.get(4).ids()).containsExactly("m5");
    }

    /** Its callback runs on the thread of the client, and may block. */
    @Test
    void theOthersAreSentBeforeASenderLearnsThatItIsLate() {
        send(0, 5);
        this.nanos.addAndGet(Duration.ofMillis(9500).toNanos());
        send(5, 6);
        List<Integer> callsBefore = new ArrayList<>();
        this.answers.get(4).whenComplete((result, failure) -> callsBefore.add(this.sent.size()));
        answerAll();

        assertThat(callsBefore).containsExactly(5);
    }

    @Test
    void aRefusedMessageIsNotSentAgainAfterItsLimit() {
        send(0, 7);
        this.sent.get(0).answered();
        this.nanos.addAndGet(LIMIT.toNanos());
        this.sent.get(4).answer().completeExceptionally(new StoreRefusedException("no", Effect.NONE, null));

        assertThat(sizes()).containsExactly(1, 1, 1, 1, 3);
        assertThat(failureOf(4)).hasMessage("no").isNotSameAs(failureOf(5));
    }

    @Test
    void anotherFailureIsUnknownForAllAndEachGetsItsOwnException() {
        send(0, 6);
        this.sent.get(0).answered();
        this.sent.get(4).answer().completeExceptionally(new StackOverflowError("of a test"));

        assertThat(failureOf(4).effect()).isEqualTo(Effect.UNKNOWN);
        assertThat(failureOf(4)).isNotSameAs(failureOf(5)).hasRootCauseMessage("of a test");
    }

    @Test
    void aCallerThatGivesUpCancelsNoOthersSend() {
        send(0, 7);
        this.answers.get(5).cancel(true);
        this.answers.get(0).cancel(true);
        this.sent.get(0).answered();
        this.sent.get(4).answered();

        assertThat(this.sent.get(4).ids()).containsExactly("m4", "m5", "m6");
        assertThat(this.answers.get(4).join()).containsExactly(result("m4"));
        assertThat(this.answers.get(6).join()).containsExactly(result("m6"));
    }

    /** A call has the keys of one partition. */
    @Test
    void sendsOfOtherPartitionsHaveCallsOfTheirOwn() {
        PartitionTarget other = PartitionTarget.first(new QueueName("invoices"));
        List<PartitionTarget> targets = new ArrayList<>();
        SendMerger merger = new SendMerger((target, messages, limit) -> {
            targets.add(target);
            return call(target, messages, limit);
        }, LIMIT, this.nanos::get);
        for (int i = 0; i < 6; i++) {
            merger.schedule(TARGET, message("orders" + i, true));
            merger.schedule(other, message("invoices" + i, true));
        }
        answerAll();

        for (int call = 0; call < this.sent.size(); call++) {
            String queue = targets.get(call).queue().value();
            assertThat(this.sent.get(call).ids()).allMatch((id) -> id.startsWith(queue));
        }
        assertThat(sizes()).containsExactly(1, 1, 1, 1, 1, 1, 1, 1, 2, 2);
    }

    private static NewMessage message(String id, boolean generated) {
        return new NewMessage(id, generated, DueTime.NOW, OnDuplicate.KEEP, MessageLimits.NORMAL_PRIORITY, null, null,
                "{}".getBytes(StandardCharsets.US_ASCII));
    }

    @Test
    void callsThatFailAtOnceLeaveNothingWaiting() {
        SendMerger failing = new SendMerger((target, messages, limit) -> {
            if (this.sent.size() < SendMerger.MAX_CALLS) {
                return call(target, messages, limit);
            }
            throw new StoreUnavailableException("closed", Effect.NONE, null);
        }, LIMIT, this.nanos::get);
        List<CompletableFuture<List<SendResult>>> all = new ArrayList<>();
        for (int i = 0; i < 100_000; i++) {
            all.add(failing.schedule(TARGET,
                    NewMessage.of("m" + i, DueTime.NOW, "{}".getBytes(StandardCharsets.US_ASCII))));
        }
        this.sent.forEach(Sent::answered);

        assertThat(all).allMatch(CompletableFuture::isDone);
    }

    /**
     * Whichever thread sends and answers: no message is lost, sent twice, or mistaken for
     * another one, and no call remains pending.
     */
    @Test
    void threadsThatSendAtTheSameTimeGetTheirOwnResults() throws Exception {
        int threads = 8;
        int each = 2000;
        Queue<String> stored = new ConcurrentLinkedQueue<>();
        AtomicInteger pending = new AtomicInteger();
        AtomicInteger mostPending = new AtomicInteger();
        ExecutorService server = Executors.newFixedThreadPool(2);
        ExecutorService senders = Executors.newFixedThreadPool(threads);
        SendMerger merger = new SendMerger((target, messages, limit) -> {
            mostPending.accumulateAndGet(pending.incrementAndGet(), Math::max);
            List<String> ids = messages.stream().map(NewMessage::id).toList();
            return CompletableFuture.supplyAsync(() -> {
                stored.addAll(ids);
                pending.decrementAndGet();
                return ids.stream().map(SendMergerTests::result).toList();
            }, server);
        }, LIMIT, this.nanos::get);
        try {
            List<Future<Integer>> counts = senders.invokeAll(IntStream.range(0, threads)
                .<Callable<Integer>>mapToObj((thread) -> () -> sendInTurn(merger, thread + "-", each))
                .toList());
            for (Future<Integer> count : counts) {
                assertThat(count.get()).isEqualTo(each);
            }
        }
        finally {
            senders.shutdownNow();
            server.shutdown();
        }

        assertThat(stored).hasSize(threads * each).doesNotHaveDuplicates();
        assertThat(mostPending).hasValueLessThanOrEqualTo(SendMerger.MAX_CALLS);
    }

    /**
     * Sends by one thread, with three sends pending; returns the number of own results.
     */
    private static int sendInTurn(SendMerger merger, String prefix, int count) {
        Deque<CompletableFuture<List<SendResult>>> sends = new ArrayDeque<>();
        int own = 0;
        for (int i = 0; i < count + 3; i++) {
            if (i < count) {
                sends.add(merger.schedule(TARGET, message(prefix + i, true)));
            }
            if (i >= 3) {
                SendResult result = sends.remove().orTimeout(60, TimeUnit.SECONDS).join().get(0);
                own += result.id().equals(prefix + (i - 3)) ? 1 : 0;
            }
        }
        return own;
    }

}
