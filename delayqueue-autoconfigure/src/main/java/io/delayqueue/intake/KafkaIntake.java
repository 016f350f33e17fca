package io.delayqueue.intake;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.delayqueue.forward.BrokerHeaders;
import io.delayqueue.forward.KafkaForwarderFactory;
import io.delayqueue.store.DaemonThreads;
import io.delayqueue.store.Texts;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.event.ConsumerRetryAuthEvent;
import org.springframework.kafka.event.ConsumerRetryAuthSuccessfulEvent;
import org.springframework.kafka.event.ConsumerStoppedEvent;
import org.springframework.kafka.event.ListenerContainerIdleEvent;
import org.springframework.kafka.listener.BatchAcknowledgingConsumerAwareMessageListener;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.support.Acknowledgment;

/**
 * Schedules the delayed records of a topic of Kafka. The offset of a record is committed
 * after the message is stored. A record that is read again has the same id, so it is
 * stored once while the queue holds it. Records without a header for a delay, and invalid
 * ones, are skipped.
 * <p>
 * <strong>Threads.</strong> The consumer threads of the container schedule, and publish
 * its events.
 */
public final class KafkaIntake implements Intake {

    private static final Logger logger = LoggerFactory.getLogger(KafkaIntake.class);

    private static final String RECONNECT_MILLIS = "5000";

    private static final String EARLIEST = "earliest";

    /** How often an intake is started again whose broker has no address. */
    private static final Duration RESOLUTION_RETRY = Duration.ofSeconds(10);

    private static final Duration AUTHORIZATION_RETRY = Duration.ofSeconds(10);

    /** The longest wait of one poll, so that its success is known soon. */
    private static final Duration POLL_TIMEOUT = Duration.ofSeconds(2);

    /** How often a consumer without records reports the success of its polls. */
    private static final Duration IDLE_REPORT = Duration.ofSeconds(1);

    private static final Duration DEFAULT_POLL_INTERVAL = Duration.ofMinutes(5);

    /** The part of the time between two polls that one batch may take. */
    private static final int PARTS_OF_POLL_INTERVAL = 3;

    private static final String LAST_HEARTBEAT = "last-heartbeat-seconds-ago";

    /** How long a consumer is silent at most while all is well. */
    private static final Duration MAX_SILENCE = Duration.ofSeconds(30);

    private final IntakeScheduler scheduler;

    private final ConcurrentMessageListenerContainer<byte[], byte[]> container;

    private final Duration batchLimit;

    private final ProblemTracker consumer = new ProblemTracker(System::nanoTime);

    private final ProblemTracker failures = new ProblemTracker(System::nanoTime);

    private final RereadingErrorHandler rereading;

    private volatile long startedAt;

    /** Whether it was started, and not stopped since. */
    private volatile boolean started;

    /** Released by a stop while the consumers wait to be started. */
    private @Nullable CountDownLatch waiting;

    /**
     * Creates an intake.
     * @param application has the configuration of the application's consumers, and the
     * listeners that get to know each consumer
     * @param groupId the consumer group
     * @param concurrency number of consumers in this process
     */
    public KafkaIntake(ConsumerFactory<?, ?> application, String topic, String groupId, int concurrency,
            IntakeScheduler scheduler) {
        this.scheduler = scheduler;
        Map<String, Object> configuration = configuration(application.getConfigurationProperties());
        this.batchLimit = pollInterval(configuration).dividedBy(PARTS_OF_POLL_INTERVAL);
        ContainerProperties properties = new ContainerProperties(topic);
        properties.setGroupId(groupId);
        properties.setClientId("delayqueue-intake-" + topic);
        properties.setAckMode(ContainerProperties.AckMode.MANUAL);
        // Without it, the first rejection would stop the consumer for good.
        properties.setAuthExceptionRetryInterval(AUTHORIZATION_RETRY);
        properties.setPollTimeout(POLL_TIMEOUT.toMillis());
        properties.setIdleEventInterval(IDLE_REPORT.toMillis());
        properties.setIdleBeforeDataMultiplier(1);
        properties.setMessageListener((BatchAcknowledgingConsumerAwareMessageListener<byte[], byte[]>) this::schedule);
        this.container = new ConcurrentMessageListenerContainer<>(consumers(application, configuration), properties);
        this.container.setConcurrency(concurrency);
        this.container.setBeanName("delayqueue-intake-" + topic);
        this.rereading = new RereadingErrorHandler(scheduler, this.failures,
                EARLIEST.equals(configuration.get(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG)));
        this.container.setCommonErrorHandler(this.rereading);
        this.container.setApplicationEventPublisher(this::onEvent);
    }

    /** The listeners see the consumer only, whatever its types are. */
    @SuppressWarnings({ "unchecked", "rawtypes" })
    private static ConsumerFactory<byte[], byte[]> consumers(ConsumerFactory<?, ?> application,
            Map<String, Object> configuration) {
        DefaultKafkaConsumerFactory<byte[], byte[]> factory = new DefaultKafkaConsumerFactory<>(configuration,
                new ByteArrayDeserializer(), new ByteArrayDeserializer());
        application.getListeners().forEach((listener) -> factory.addListener((ConsumerFactory.Listener) listener));
        return factory;
    }

    private static Map<String, Object> configuration(Map<String, Object> application) {
        Map<String, Object> own = new HashMap<>(application);
        own.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        own.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        own.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        own.remove(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG);
        // Without a policy, a group that has no offset would stop its consumer for good.
        own.merge(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, EARLIEST,
                (given, earliest) -> "none".equals(given) ? earliest : given);
        // Boot always sets its default, which reads the records of aborted transactions.
        own.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        own.putIfAbsent(ConsumerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, RECONNECT_MILLIS);
        return own;
    }

    private static Duration pollInterval(Map<String, Object> configuration) {
        Object millis = configuration.get(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG);
        return (millis != null) ? Duration.ofMillis(Long.parseLong(millis.toString())) : DEFAULT_POLL_INTERVAL;
    }

    private void schedule(List<ConsumerRecord<byte[], byte[]>> records, @Nullable Acknowledgment acknowledgment,
            @Nullable Consumer<?, ?> client) {
        if (acknowledgment == null || client == null) {
            return;
        }
        this.rereading.polled(client);
        long begin = System.nanoTime();
        for (int i = 0; i < records.size(); i++) {
            // A consumer that does not poll in time loses its partitions, and a stop
            // waits.
            if (!this.started || System.nanoTime() - begin > this.batchLimit.toNanos()) {
                acknowledgment.nack(i, Duration.ZERO);
                return;
            }
            if (!schedule(records.get(i))) {
                // Commits the records before, and reads this one again after the wait.
                acknowledgment.nack(i, this.scheduler.untilRetry());
                return;
            }
        }
        acknowledgment.acknowledge();
    }

    /** Returns whether the offset of the record may be committed. */
    private boolean schedule(ConsumerRecord<byte[], byte[]> record) {
        if (record.headers().lastHeader(BrokerHeaders.DUE) == null
                && record.headers().lastHeader(BrokerHeaders.DELAY) == null) {
            this.scheduler.skipped();
            return true;
        }
        return this.scheduler.schedule(convert(record)) != IntakeOutcome.FAILED;
    }

    private static IntakeMessage convert(ConsumerRecord<byte[], byte[]> record) {
        IntakeHeaders headers = new IntakeHeaders();
        for (Header header : record.headers()) {
            if (header.value() != null) {
                headers.put(header.key(), header.value());
            }
        }
        byte[] payload = record.value();
        // Offsets begin again in a topic that is created again; times do not.
        String id = "%s-%d-%d-%d".formatted(record.topic(), record.partition(), record.offset(), record.timestamp());
        return new IntakeMessage(
                "offset %d of partition %d of topic '%s'".formatted(record.offset(), record.partition(),
                        record.topic()),
                IntakeReader.idOf(id), record.key(), headers, (payload != null) ? payload : new byte[0]);
    }

    private void onEvent(Object event) {
        if (event instanceof ConsumerRetryAuthEvent rejected) {
            this.consumer.begin("Kafka rejects the consumer (%s); it tries again every %s"
                .formatted(rejected.getReason(), Texts.span(AUTHORIZATION_RETRY)));
        }
        else if (event instanceof ConsumerRetryAuthSuccessfulEvent) {
            this.consumer.end();
        }
        else if (event instanceof ListenerContainerIdleEvent idle) {
            this.rereading.polled(idle.getConsumer());
        }
        else if (event instanceof ConsumerStoppedEvent stopped
                && stopped.getReason() != ConsumerStoppedEvent.Reason.NORMAL) {
            this.consumer.begin("a consumer has stopped (%s) until the application is restarted; its log has the reason"
                .formatted(stopped.getReason()));
        }
    }

    @Override
    public IntakeScheduler scheduler() {
        return this.scheduler;
    }

    @Override
    public @Nullable IntakeProblem problem() {
        return Stream.of(this.consumer, this.failures)
            .map(ProblemTracker::current)
            .filter(Objects::nonNull)
            .findFirst()
            .or(() -> Optional.ofNullable(this.scheduler.problem()))
            .orElseGet(this::silence);
    }

    /**
     * Returns a problem if a consumer has long sent no heartbeat: it is not connected.
     */
    private @Nullable IntakeProblem silence() {
        Duration sinceStart = Duration.ofNanos(System.nanoTime() - this.startedAt);
        return this.container.metrics()
            .values()
            .stream()
            .flatMap((metrics) -> metrics.entrySet().stream())
            .filter((metric) -> metric.getKey().name().equals(LAST_HEARTBEAT))
            .map((metric) -> ((Number) metric.getValue().metricValue()).longValue())
            // Negative before the first one.
            .map((seconds) -> (seconds < 0) ? sinceStart : Duration.ofSeconds(seconds))
            .filter((silence) -> silence.compareTo(MAX_SILENCE) > 0)
            .max(Comparator.naturalOrder())
            .map((silence) -> new IntakeProblem("Kafka does not answer its consumer", silence))
            .orElse(null);
    }

    /** Starts the consumers, later if no name of a broker can be resolved now. */
    @Override
    public synchronized void start() {
        this.consumer.end();
        this.rereading.reset();
        this.started = true;
        this.startedAt = System.nanoTime();
        if (!startConsumers()) {
            logger.warn("No name of a broker of {} can be resolved; its consumer starts once one can",
                    this.scheduler.source());
            CountDownLatch stopped = new CountDownLatch(1);
            this.waiting = stopped;
            DaemonThreads.start(() -> startLater(stopped), "delayqueue-intake");
        }
    }

    private boolean startConsumers() {
        try {
            this.container.start();
            return true;
        }
        catch (KafkaException ex) {
            this.container.stop();
            if (!KafkaForwarderFactory.isUnresolved(ex)) {
                throw ex;
            }
            this.consumer
                .begin("no name of a broker can be resolved; it tries again every " + Texts.span(RESOLUTION_RETRY));
            return false;
        }
    }

    private void startLater(CountDownLatch stopped) {
        try {
            while (!stopped.await(RESOLUTION_RETRY.toNanos(), TimeUnit.NANOSECONDS) && !startNow(stopped)) {
                logger.debug("No name of a broker of {} can be resolved", this.scheduler.source());
            }
        }
        catch (InterruptedException ex) {
            logger.debug("Interrupted before the consumer could be started", ex);
        }
        catch (RuntimeException ex) {
            this.consumer.begin("its consumer cannot be started: " + ex);
            logger.error("The consumer of {} cannot be started", this.scheduler.source(), ex);
        }
    }

    /** Returns whether there is nothing more to do. */
    private synchronized boolean startNow(CountDownLatch stopped) {
        if (this.waiting == stopped && startConsumers()) {
            this.waiting = null;
            this.consumer.end();
            this.startedAt = System.nanoTime();
            logger.info("The consumer of {} is started", this.scheduler.source());
        }
        return this.waiting != stopped;
    }

    private synchronized void stopWaiting() {
        if (this.waiting != null) {
            this.waiting.countDown();
            this.waiting = null;
        }
    }

    @Override
    public void stop() {
        this.started = false;
        stopWaiting();
        this.container.stop();
    }

    @Override
    public void stop(Runnable callback) {
        this.started = false;
        stopWaiting();
        this.container.stop(callback);
    }

    @Override
    public boolean isStarted() {
        return this.started;
    }

    @Override
    public synchronized boolean isRunning() {
        return this.waiting != null || this.container.isRunning();
    }

    @Override
    public int getPhase() {
        return this.container.getPhase();
    }

}
