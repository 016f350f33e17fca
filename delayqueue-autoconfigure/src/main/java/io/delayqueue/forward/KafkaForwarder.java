package io.delayqueue.forward;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;

import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.support.SendResult;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Forwards messages to a topic of Kafka. A message is confirmed when all in-sync replicas
 * have it. Only an exception that concerns the record itself makes a message
 * undeliverable: a missing topic or permission stops all messages alike, so they wait.
 */
final class KafkaForwarder implements MessageForwarder {

    private final KafkaTemplate<byte[], byte[]> template;

    private final Runnable resetProducer;

    private final String topic;

    private final MessageKey key;

    /** Whether the producer has failed for good, and must be replaced. */
    private volatile boolean broken;

    /**
     * Creates a forwarder.
     * @param template sends with a producer that no other forwarder uses
     * @param resetProducer closes that producer, so that the next send creates another
     */
    KafkaForwarder(KafkaTemplate<byte[], byte[]> template, Runnable resetProducer, String topic, MessageKey key) {
        this.template = template;
        this.resetProducer = resetProducer;
        this.topic = topic;
        this.key = key;
    }

    @Override
    public CompletionStage<?> forward(ForwardedMessage message) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(this.topic, this.key.of(message),
                message.payload());
        message.brokerHeaders().forEach((name, value) -> record.headers().add(name, value.getBytes(UTF_8)));
        message.binaryHeaders().forEach((name, value) -> record.headers().add(name, value));
        record.headers().add(BrokerHeaders.CONTENT_TYPE, BrokerHeaders.JSON.getBytes(UTF_8));
        if (this.broken) {
            this.broken = false;
            this.resetProducer.run();
        }
        return send(record).exceptionallyCompose((failure) -> CompletableFuture.failedFuture(translate(failure)));
    }

    private CompletableFuture<SendResult<byte[], byte[]>> send(ProducerRecord<byte[], byte[]> record) {
        try {
            return this.template.send(record);
        }
        catch (RuntimeException ex) {
            return CompletableFuture.failedFuture(ex);
        }
    }

    private RuntimeException translate(Throwable failure) {
        Throwable cause = failure;
        while (!(cause instanceof KafkaException) && cause.getCause() != null) {
            cause = cause.getCause();
        }
        if (cause instanceof RecordTooLargeException || cause instanceof RecordBatchTooLargeException
                || cause instanceof SerializationException || cause instanceof InvalidRecordException) {
            return new UndeliverableMessageException(
                    "Topic '%s' does not accept the record: %s".formatted(this.topic, cause.getMessage()), cause);
        }
        if (endsProducer(cause)) {
            this.broken = true;
        }
        return new BrokerUnavailableException(
                "Topic '%s' has not confirmed the record: %s".formatted(this.topic, cause.getMessage()), cause);
    }

    /**
     * Returns whether the producer can send nothing after this exception. An exception of
     * the broker, such as one for a missing permission, concerns the call only; the
     * client itself reports that an earlier failure was final by a plain exception.
     */
    private static boolean endsProducer(Throwable failure) {
        if (failure instanceof ApiException) {
            return failure instanceof ProducerFencedException || failure instanceof InvalidProducerEpochException
                    || failure instanceof OutOfOrderSequenceException;
        }
        return failure instanceof KafkaException && !(failure instanceof InterruptException);
    }

}
