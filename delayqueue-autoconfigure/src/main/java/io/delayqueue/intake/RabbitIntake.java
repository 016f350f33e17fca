package io.delayqueue.intake;

import java.io.IOException;
import java.time.Duration;
import java.util.Date;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.LongString;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.amqp.core.AcknowledgeMode;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageProperties;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.listener.ConsumeOkEvent;
import org.springframework.amqp.rabbit.listener.ListenerContainerConsumerFailedEvent;
import org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer;
import org.springframework.amqp.rabbit.listener.api.ChannelAwareMessageListener;
import org.springframework.amqp.rabbit.support.DefaultMessagePropertiesConverter;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.util.backoff.BackOff;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * Schedules the delayed messages of a queue of RabbitMQ. A delivery is acknowledged after
 * the message is stored. An invalid delivery, such as one without a header for a delay,
 * stops its consumer, or is rejected if the configuration permits that.
 * <p>
 * <strong>Threads.</strong> The consumer threads of the container schedule. While the
 * store does not take a message, its thread waits. Any thread publishes events of the
 * container.
 */
public final class RabbitIntake implements Intake {

    private static final Logger logger = LoggerFactory.getLogger(RabbitIntake.class);

    private static final int PREFETCH = 100;

    private static final Duration SHORTEST_RECOVERY = Duration.ofSeconds(1);

    private static final Duration LONGEST_RECOVERY = Duration.ofSeconds(10);

    private static final Duration CHANNEL_CHECK = Duration.ofSeconds(1);

    private final IntakeScheduler scheduler;

    private final String queue;

    private final String source;

    private final boolean rejectInvalid;

    private final SimpleMessageListenerContainer container;

    private final ProblemTracker consumer = new ProblemTracker(System::nanoTime);

    private final ProblemTracker held = new ProblemTracker(System::nanoTime);

    /** The number of consumers that have stopped at an invalid message. */
    private final AtomicInteger holding = new AtomicInteger();

    /** Ends waits when the container stops; released before the start, too. */
    private volatile CountDownLatch stopped = new CountDownLatch(0);

    /**
     * Creates an intake.
     * @param queue the queue of the broker
     * @param concurrency number of consumers in this process
     * @param rejectInvalid whether invalid deliveries are rejected, and not kept
     */
    public RabbitIntake(ConnectionFactory connections, String queue, int concurrency, boolean rejectInvalid,
            IntakeScheduler scheduler) {
        this.scheduler = scheduler;
        this.queue = queue;
        this.rejectInvalid = rejectInvalid;
        this.source = "queue '%s' of the broker".formatted(queue);
        this.container = new SimpleMessageListenerContainer(connections);
        this.container.setQueueNames(queue);
        this.container.setConcurrentConsumers(concurrency);
        this.container.setPrefetchCount(PREFETCH);
        this.container.setAcknowledgeMode(AcknowledgeMode.MANUAL);
        this.container.setMissingQueuesFatal(false);
        // Otherwise the first rejection would stop the consumers, or fail the start.
        this.container.setPossibleAuthenticationFailureFatal(false);
        // Spring's default ends the process.
        this.container.setJavaLangErrorHandler((error) -> logger
            .error("An error of the JVM stops all consumers of {} until a restart", this.source, error));
        this.container.setRecoveryBackOff(recovery());
        this.container.setApplicationEventPublisher(this::onEvent);
        // Keeps the bytes of headers, which may be no text.
        this.container.setMessagePropertiesConverter(new DefaultMessagePropertiesConverter(0));
        this.container.setListenerId("delayqueue-intake-" + queue);
        this.container.setMessageListener((ChannelAwareMessageListener) this::schedule);
        this.container.afterPropertiesSet();
    }

    private static BackOff recovery() {
        ExponentialBackOff growing = new ExponentialBackOff(SHORTEST_RECOVERY.toMillis(), 2);
        growing.setMaxInterval(LONGEST_RECOVERY.toMillis());
        return growing;
    }

    private void schedule(Message message, @Nullable Channel channel) throws IOException, InterruptedException {
        if (channel == null) {
            return;
        }
        long tag = message.getMessageProperties().getDeliveryTag();
        IntakeMessage converted = convert(message);
        IntakeOutcome outcome = this.scheduler.schedule(converted);
        while (outcome == IntakeOutcome.FAILED) {
            if (this.stopped.await(this.scheduler.untilRetry().toMillis(), TimeUnit.MILLISECONDS)) {
                channel.basicNack(tag, false, true);
                return;
            }
            if (!channel.isOpen()) {
                // The broker has taken the delivery back, for any consumer.
                return;
            }
            outcome = this.scheduler.schedule(converted);
        }
        if (outcome.isStored()) {
            channel.basicAck(tag, false);
        }
        else if (this.rejectInvalid) {
            channel.basicReject(tag, false);
        }
        else {
            hold(tag, channel);
        }
    }

    /**
     * Keeps an invalid delivery, as the broker might drop it, and handles no other on
     * this thread until the stop, or until the broker takes the delivery back.
     */
    private void hold(long tag, Channel channel) throws IOException, InterruptedException {
        this.holding.incrementAndGet();
        this.held.begin("a consumer has stopped at a message that cannot be scheduled; the log has the reason");
        logger.error("A consumer of {} handles no other message, because the broker might drop this one. Set "
                + "delayqueue.intake.rabbit.{}.reject-invalid to true to reject such messages, once the queue has a "
                + "dead-letter exchange", this.source, this.queue);
        try {
            while (channel.isOpen()) {
                if (this.stopped.await(CHANNEL_CHECK.toMillis(), TimeUnit.MILLISECONDS)) {
                    channel.basicNack(tag, false, true);
                    return;
                }
            }
        }
        finally {
            if (this.holding.decrementAndGet() == 0) {
                this.held.end();
            }
        }
    }

    private IntakeMessage convert(Message message) {
        MessageProperties properties = message.getMessageProperties();
        IntakeHeaders headers = new IntakeHeaders();
        properties.getHeaders().forEach((name, value) -> add(headers, name, value));
        String id = properties.getMessageId();
        // Generated here, so that all attempts with this delivery have one id.
        return new IntakeMessage(this.source,
                (id != null && !id.isBlank()) ? IntakeReader.idOf(id) : UUID.randomUUID().toString(), null, headers,
                message.getBody());
    }

    /** Adds a header, unless it is a table or a list, which only brokers use. */
    private static void add(IntakeHeaders headers, String name, @Nullable Object value) {
        if (value instanceof byte[] bytes) {
            headers.put(name, bytes);
        }
        else if (value instanceof LongString text) {
            headers.put(name, text.getBytes());
        }
        else if (value instanceof Date time) {
            headers.put(name, time.toInstant().toString());
        }
        else if (value instanceof CharSequence || value instanceof Number || value instanceof Boolean) {
            headers.put(name, value.toString());
        }
    }

    private void onEvent(Object event) {
        if (event instanceof ListenerContainerConsumerFailedEvent failed) {
            Throwable cause = failed.getThrowable();
            this.consumer.begin((failed.isFatal() ? "its consumers have stopped until the application is restarted: "
                    : "RabbitMQ cannot be read from: ")
                    + ((cause != null) ? NestedExceptionUtils.getMostSpecificCause(cause) : failed.getReason()));
        }
        else if (event instanceof ConsumeOkEvent) {
            this.consumer.end();
        }
    }

    @Override
    public IntakeScheduler scheduler() {
        return this.scheduler;
    }

    @Override
    public @Nullable IntakeProblem problem() {
        return Stream.of(this.consumer, this.held)
            .map(ProblemTracker::current)
            .filter(Objects::nonNull)
            .findFirst()
            .orElseGet(this.scheduler::problem);
    }

    @Override
    public void start() {
        this.consumer.end();
        this.stopped = new CountDownLatch(1);
        this.container.start();
    }

    @Override
    public void stop() {
        this.stopped.countDown();
        this.container.stop();
    }

    @Override
    public void stop(Runnable callback) {
        this.stopped.countDown();
        this.container.stop(callback);
    }

    @Override
    public boolean isStarted() {
        return this.stopped.getCount() > 0;
    }

    @Override
    public boolean isRunning() {
        return this.container.isRunning();
    }

    @Override
    public int getPhase() {
        return this.container.getPhase();
    }

}
