package io.delayqueue.web.consume;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.delayqueue.QueueName;
import io.delayqueue.consume.ConsumeSettings;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.memory.MicrosClock;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.SecretStore;
import io.delayqueue.store.envelope.Envelope;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.web.http.Problem;
import io.delayqueue.web.http.ProblemException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.json.JsonReadFeature;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/** Checks waiting claims on an in-memory store: P3 and P4 for them, and their limits. */
class LongPollingTests {

    private static final QueueName QUEUE = new QueueName("polled");

    private static final QueueName OTHER = new QueueName("other");

    private static final Duration LONG = Duration.ofMinutes(1);

    /** Customized as an application may do; fails on one payload. */
    private final EnvelopeCodec codec = new EnvelopeCodec(
            JsonMapper.builder().enable(JsonReadFeature.ALLOW_SINGLE_QUOTES).build()) {
        @Override
        public Envelope read(byte[] envelope) {
            if (new String(envelope, StandardCharsets.UTF_8).contains("too deep")) {
                throw new StackOverflowError();
            }
            return super.read(envelope);
        }
    };

    private final InMemoryMessageStore store = new InMemoryMessageStore(this.codec, new MicrosClock());

    private final AtomicInteger claims = new AtomicInteger();

    /** Intercepts the result of a claim. */
    private volatile Function<CompletableFuture<ClaimResult>, CompletableFuture<ClaimResult>> delivery = Function
        .identity();

    private volatile CountDownLatch blocked = new CountDownLatch(0);

    private volatile boolean waits;

    private final List<String> deadLetteringThreads = new CopyOnWriteArrayList<>();

    private final AsyncEventPublisher publisher = new AsyncEventPublisher((event) -> {
    });

    private HttpConsumerServices consumers;

    @BeforeEach
    void start() {
        this.publisher.start();
        begin(false);
    }

    private void begin(boolean waits) {
        this.waits = waits;
        StoreComponents components = new StoreComponents(counted(), this.store, this.store,
                new PartitionLayouts(PartitionLayoutStore.NONE, (queue) -> 0, System::nanoTime));
        ConsumeSettings settings = new ConsumeSettings(LONG, 3, 3, ExpiryPolicy.DROP, Duration.ofHours(1),
                (failures) -> Duration.ZERO);
        this.consumers = new HttpConsumerServices(components,
                new HttpConsumerCodecs(this.codec, new LeaseTokenService(SecretStore.inMemory(), "polls")),
                (queue) -> settings, new ClaimLimits(100, 100), this.publisher);
        this.consumers.start();
    }

    private MessageStore counted() {
        return (MessageStore) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { MessageStore.class },
                (proxy, method, args) -> switch (method.getName()) {
                    case "isBlocking" -> this.waits;
                    case "claim" -> {
                        this.claims.incrementAndGet();
                        if (((Partition) args[0]).queue().equals(QUEUE)) {
                            this.blocked.await();
                        }
                        yield this.delivery.apply(answered(method.invoke(this.store, args)));
                    }
                    case "deadLetter" -> {
                        this.deadLetteringThreads.add(Thread.currentThread().getName());
                        yield invoke(method, args);
                    }
                    default -> invoke(method, args);
                });
    }

    private Object invoke(Method method, Object[] args) throws Throwable {
        try {
            return method.invoke(this.store, args);
        }
        catch (InvocationTargetException ex) {
            throw ex.getCause();
        }
    }

    @SuppressWarnings("unchecked")
    private static CompletableFuture<ClaimResult> answered(Object answer) {
        return (CompletableFuture<ClaimResult>) answer;
    }

    @AfterEach
    void stop() {
        this.blocked.countDown();
        this.consumers.stop();
        this.publisher.stop();
    }

    @ParameterizedTest
    @ValueSource(booleans = { false, true })
    void aHundredWaitingClaimsAreServedByFewThreads(boolean waits) throws Exception {
        this.consumers.stop();
        Set<Thread> others = Thread.getAllStackTraces().keySet();
        begin(waits);
        List<CompletableFuture<List<ClaimedHttpMessage>>> waiting = IntStream.range(0, 100)
            .mapToObj((i) -> claim(QUEUE, LONG))
            .toList();
        assertThat(this.consumers.polls().waiting()).isEqualTo(100);

        IntStream.range(0, 100).forEach((i) -> send("m" + i, "{\"payload\":1}"));

        Set<String> ids = waiting.stream()
            .flatMap((one) -> claimed(one).stream())
            .map((message) -> message.claimed().lease().id())
            .collect(Collectors.toSet());
        assertThat(ids).hasSize(100);
        assertThat(this.consumers.polls().waiting()).isZero();
        assertThat(Thread.getAllStackTraces().keySet().stream().filter((thread) -> !others.contains(thread)))
            .filteredOn((thread) -> thread.getName().startsWith("delayqueue-web-"))
            .hasSizeBetween(1, 9);
    }

    /** P3, without a claim more than it needs. */
    @Test
    void pollsTheStoreOnlyWhenAMessageMayBeDue() {
        CompletableFuture<List<ClaimedHttpMessage>> first = claim(QUEUE, LONG);
        send("later", "{\"payload\":1}", Duration.ofMillis(300));

        assertThat(claimed(first)).hasSize(1);
        assertThat(this.claims.get()).as("one, one after the subscription, the wake-up, when it was due, and rounding")
            .isBetween(2, 6);
    }

    @Test
    void waitingClaimsAreLimitedInTotalAndPerQueue() {
        this.consumers.stop();
        ClaimLimiter permits = new ClaimLimiter(new ClaimLimits(3, 2), "waiting");
        permits.take(QUEUE);
        permits.take(QUEUE);
        assertThatExceptionOfType(ProblemException.class).isThrownBy(() -> permits.take(QUEUE))
            .satisfies((ex) -> assertThat(ex.problem().kind()).isEqualTo(Problem.Kind.TOO_MANY_WAITING))
            .withMessage("2 claims of queue 'polled' are waiting already (delayqueue.web.api.max-waiting-per-queue)");
        permits.take(OTHER);
        assertThatExceptionOfType(ProblemException.class).isThrownBy(() -> permits.take(OTHER))
            .withMessage("3 claims are waiting already (delayqueue.web.api.max-waiting)");

        permits.leave(QUEUE);
        permits.leave(OTHER);
        permits.take(QUEUE);
        assertThat(permits.taken()).isEqualTo(2);
    }

    @Test
    void aClaimThatDoesNotWaitNeedsNoPermitToWait() {
        IntStream.range(0, 100).forEach((i) -> claim(QUEUE, LONG));

        assertThatExceptionOfType(ProblemException.class).isThrownBy(() -> claim(QUEUE, LONG));
        assertThat(claimed(claim(OTHER, Duration.ZERO))).isEmpty();
        assertThat(claimed(claim(OTHER, Duration.ZERO))).isEmpty();
    }

    /** Uses a store that is slow to answer them. */
    @Test
    void claimsThatDoNotWaitHaveTheirOwnLimit() {
        CompletableFuture<ClaimResult> delayed = new CompletableFuture<>();
        this.delivery = (answer) -> delayed.thenCombine(answer, (late, claim) -> claim);
        List<CompletableFuture<List<ClaimedHttpMessage>>> notWaiting = IntStream.range(0, 100)
            .mapToObj((i) -> claim(OTHER, Duration.ZERO))
            .toList();

        assertThatExceptionOfType(ProblemException.class).isThrownBy(() -> claim(OTHER, Duration.ZERO))
            .satisfies((ex) -> assertThat(ex.problem().kind()).isEqualTo(Problem.Kind.TOO_MANY_WAITING))
            .withMessage("100 claims are being answered already (delayqueue.web.api.max-waiting)");
        CompletableFuture<List<ClaimedHttpMessage>> waits = claim(OTHER, LONG);
        delayed.complete(null);

        assertThat(notWaiting).allSatisfy((one) -> assertThat(claimed(one)).isEmpty());
        assertThat(claimed(claim(OTHER, Duration.ZERO))).isEmpty();
        assertThat(waits).isNotDone();
    }

    /** Like a consumer that handles its messages and claims again. */
    @Test
    void anAnsweredConsumerCanClaimAgainAtOnceAtTheLimit() {
        CompletableFuture<List<ClaimedHttpMessage>> first = claim(QUEUE, LONG);
        IntStream.range(1, 100).forEach((i) -> claim(QUEUE, LONG));
        CompletableFuture<CompletableFuture<List<ClaimedHttpMessage>>> again = first
            .thenApply((messages) -> claim(QUEUE, LONG));

        send("m", "{\"payload\":1}");

        assertThat(claimed(first)).hasSize(1);
        assertThat(again.orTimeout(1, TimeUnit.MINUTES).join()).isNotDone();
    }

    @Test
    void aCancelledClaimFreesItsPermitAndGetsNoMessage() {
        CompletableFuture<List<ClaimedHttpMessage>> gone = claim(QUEUE, LONG);
        CompletableFuture<List<ClaimedHttpMessage>> other = claim(QUEUE, LONG);

        gone.complete(List.of());
        assertThat(this.consumers.polls().waiting()).isEqualTo(1);
        send("m", "{\"payload\":1}");

        assertThat(claimed(other)).hasSize(1);
    }

    /**
     * P12: a stop answers without waiting for the claim under way, whose messages are
     * released.
     */
    @Test
    void aStopReleasesTheMessagesOfAClaimUnderWay() throws Exception {
        send("m", "{\"payload\":1}");
        CompletableFuture<ClaimResult> delayed = new CompletableFuture<>();
        CountDownLatch claimed = new CountDownLatch(1);
        this.delivery = (answer) -> {
            answer.thenRun(claimed::countDown);
            return delayed.thenCombine(answer, (late, claim) -> claim);
        };
        CompletableFuture<List<ClaimedHttpMessage>> waiting = claim(QUEUE, LONG);
        claimed.await();

        CompletableFuture<Void> stopped = CompletableFuture.runAsync(this.consumers::stop);
        assertThat(claimed(waiting)).as("while the claim is held").isEmpty();
        assertThatExceptionOfType(TimeoutException.class).as("it waits for the claim under way")
            .isThrownBy(() -> stopped.get(300, TimeUnit.MILLISECONDS));
        delayed.complete(null);
        stopped.get(1, TimeUnit.MINUTES);

        this.delivery = Function.identity();
        begin(false);
        assertThat(claimed(claim(QUEUE, Duration.ZERO))).singleElement()
            .satisfies((message) -> assertThat(message.claimed().redelivered()).isFalse());
    }

    /** An answer without messages would mean that none is due. */
    @Test
    void aNodeThatDoesNotRunRejectsClaims() {
        send("m", "{\"payload\":1}");
        this.consumers.stop();

        for (Duration wait : List.of(Duration.ZERO, LONG)) {
            assertRejected(claim(QUEUE, wait));
        }
        assertThat(this.claims).hasValue(0);
        assertThat(this.consumers.polls().waiting()).isZero();
    }

    @Test
    void aStopRejectsClaimsThatItOvertakesAndAnswersThoseThatWait() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        this.blocked = held;
        CompletableFuture<List<ClaimedHttpMessage>> waiting = claim(QUEUE, LONG);
        await().until(() -> this.claims.get() == 1);
        CompletableFuture<List<ClaimedHttpMessage>> overtaken = claim(OTHER, Duration.ZERO);

        CompletableFuture<Void> stopped = CompletableFuture.runAsync(this.consumers::stop);
        await().until(() -> !this.consumers.isRunning());
        held.countDown();
        stopped.get(1, TimeUnit.MINUTES);

        assertThat(claimed(waiting)).isEmpty();
        assertRejected(overtaken);
    }

    /** A blocking client delays its own queue, but not the thread of all others. */
    @Test
    void aBlockingCallDelaysNoOtherQueue() {
        this.consumers.stop();
        this.blocked = new CountDownLatch(1);
        begin(true);
        CompletableFuture<List<ClaimedHttpMessage>> stuck = claim(QUEUE, LONG);
        this.store.schedule(PartitionTarget.first(OTHER), List.of(message("m", "{\"payload\":1}", Duration.ZERO)))
            .join();

        assertThat(claimed(claim(OTHER, LONG))).hasSize(1);
        assertThat(stuck).isNotDone();
    }

    /** P9: no caller gets null for a payload that cannot be read. */
    @ParameterizedTest
    @ValueSource(strings = { "{\"payload\":null}", "{\"payload\":{'a':1}}", "{\"payload\":", "rubbish",
            "{\"payload\":\"too deep\"}" })
    void aMessageThatCannotBeReadIsDeadLetteredAndTheOthersAreDelivered(String envelope) {
        send("poison", envelope);
        send("sound", "{\"payload\":{\"a\":null}}");

        assertThat(claimed(claim(QUEUE, LONG))).singleElement()
            .satisfies((message) -> assertThat(message.claimed().lease().id()).isEqualTo("sound"));
        assertThat(this.store.deadLetters(Partition.first(QUEUE), null, 10).join().deadLetters()).singleElement()
            .satisfies((deadLetter) -> {
                assertThat(deadLetter.messageId()).isEqualTo("poison");
                assertThat(deadLetter.cause()).containsAnyOf("no JSON that consumers over HTTP could read",
                        "is not readable", "The codec failed to read the message");
            });
    }

    /** However much is claimed, the one polling thread stays free. */
    @Test
    void payloadsAreReadOnNeitherTheStoresNorThePollingThread() {
        this.delivery = (answer) -> answer.thenApplyAsync(Function.identity(),
                (task) -> new Thread(task, "store").start());
        send("poison", "{\"payload\":null}");
        send("sound", "{\"payload\":1}");

        assertThat(claimed(claim(QUEUE, LONG))).hasSize(1);
        assertThat(this.deadLetteringThreads).singleElement().asString().startsWith("delayqueue-web-reader-");
    }

    private static void assertRejected(CompletableFuture<List<ClaimedHttpMessage>> claim) {
        assertThatThrownBy(() -> claimed(claim)).cause()
            .isInstanceOfSatisfying(ProblemException.class,
                    (ex) -> assertThat(ex.problem().kind()).isEqualTo(Problem.Kind.NOT_RUNNING));
    }

    private CompletableFuture<List<ClaimedHttpMessage>> claim(QueueName queue, Duration wait) {
        return this.consumers.polls().claim(queue, 1, LONG, wait);
    }

    private static List<ClaimedHttpMessage> claimed(CompletableFuture<List<ClaimedHttpMessage>> claim) {
        return claim.orTimeout(1, TimeUnit.MINUTES).join();
    }

    private void send(String id, String envelope) {
        send(id, envelope, Duration.ZERO);
    }

    private void send(String id, String envelope, Duration delay) {
        this.store.schedule(PartitionTarget.first(QUEUE), List.of(message(id, envelope, delay))).join();
    }

    private static NewMessage message(String id, String envelope, Duration delay) {
        return NewMessage.of(id, DueTime.after(delay), envelope.getBytes(StandardCharsets.UTF_8));
    }

}
