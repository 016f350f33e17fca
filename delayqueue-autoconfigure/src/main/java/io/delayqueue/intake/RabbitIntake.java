package io.delayqueue.intake;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import com.rabbitmq.client.Channel;
import io.delayqueue.forward.BrokerHeaders;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.amqp.core.AcknowledgeMode;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageProperties;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer;
import org.springframework.amqp.rabbit.listener.api.ChannelAwareMessageListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * Schedules the delayed messages of a queue of RabbitMQ. A delivery is acknowledged after
 * the message is stored. A delivery without a header for a delay, or an invalid one, is
 * rejected, and goes to the dead-letter exchange of its queue.
 * <p>
 * <strong>Threads.</strong> The consumer threads of the container schedule. While the
 * store does not take a message, its thread waits.
 */
public final class RabbitIntake implements SmartLifecycle {

    private static final Logger logger = LoggerFactory.getLogger(RabbitIntake.class);

    private static final int PREFETCH = 100;

    private static final ExponentialBackOff RECOVERY = new ExponentialBackOff(1000, 2);

    private final IntakeScheduler scheduler;

    private final String source;

    private final SimpleMessageListenerContainer container;

    /** Ends waits when the container stops. */
    private volatile CountDownLatch stopped = new CountDownLatch(1);

    /**
     * Creates an intake.
     * @param queue the queue of the broker
     * @param concurrency number of consumers in this process
     */
    public RabbitIntake(ConnectionFactory connections, String queue, int concurrency, IntakeScheduler scheduler) {
        this.scheduler = scheduler;
        this.source = "queue '%s' of the broker".formatted(queue);
        this.container = new SimpleMessageListenerContainer(connections);
        this.container.setQueueNames(queue);
        this.container.setConcurrentConsumers(concurrency);
        this.container.setPrefetchCount(PREFETCH);
        this.container.setAcknowledgeMode(AcknowledgeMode.MANUAL);
        this.container.setMissingQueuesFatal(false);
        this.container.setRecoveryBackOff(RECOVERY);
        this.container.setListenerId("delayqueue-intake-" + queue);
        this.container.setMessageListener((ChannelAwareMessageListener) this::schedule);
        this.container.afterPropertiesSet();
    }

    private void schedule(Message message, @Nullable Channel channel) throws IOException, InterruptedException {
        if (channel == null) {
            return;
        }
        long tag = message.getMessageProperties().getDeliveryTag();
        IntakeMessage converted = convert(message);
        IntakeScheduler.Result result = this.scheduler.schedule(converted);
        while (result == IntakeScheduler.Result.UNAVAILABLE) {
            if (this.stopped.await(this.scheduler.untilRetry().toMillis(), TimeUnit.MILLISECONDS)) {
                channel.basicNack(tag, false, true);
                return;
            }
            result = this.scheduler.schedule(converted);
        }
        if (result == IntakeScheduler.Result.SCHEDULED) {
            channel.basicAck(tag, false);
        }
        else {
            if (result == IntakeScheduler.Result.NOT_DELAYED) {
                logger.error("Message from {} is rejected, as it has no header '{}' or '{}'", converted,
                        BrokerHeaders.DUE, BrokerHeaders.DELAY);
            }
            channel.basicReject(tag, false);
        }
    }

    private IntakeMessage convert(Message message) {
        MessageProperties properties = message.getMessageProperties();
        Map<String, String> headers = new HashMap<>();
        properties.getHeaders().forEach((name, value) -> {
            if (value instanceof CharSequence || value instanceof Number || value instanceof Boolean) {
                headers.put(name, value.toString());
            }
        });
        String id = properties.getMessageId();
        return new IntakeMessage(this.source, (id != null) ? IntakeReader.idOf(id) : null, null, headers,
                message.getBody());
    }

    @Override
    public void start() {
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
    public boolean isRunning() {
        return this.container.isRunning();
    }

    @Override
    public int getPhase() {
        return this.container.getPhase();
    }

}
