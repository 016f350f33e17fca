package io.delayqueue.forward;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.RetriableException;
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

    private final KafkaTemplate<String, byte[]> template;

    private final Runnable resetProducer;

    private final String topic;

    private final MessageKey key;

    /** Whether the producer may have failed for good, and must be replaced. */
    private volatile boolean broken;

    KafkaForwarder(KafkaTemplate<String, byte[]> template, Runnable resetProducer, String topic, MessageKey key) {
        this.template = template;
        this.resetProducer = resetProducer;
        this.topic = topic;
        this.key = key;
    }

    @Override
    public CompletionStage<?> forward(ForwardedMessage message) {
        ProducerRecord<String, byte[]> record = new ProducerRecord<>(this.topic, this.key.of(message),
                message.payload());
        message.brokerHeaders().forEach((name, value) -> record.headers().add(name, value.getBytes(UTF_8)));
        record.headers().add(BrokerHeaders.CONTENT_TYPE, BrokerHeaders.JSON.getBytes(UTF_8));
        if (this.broken) {
            this.broken = false;
            this.resetProducer.run();
        }
        return send(record).exceptionallyCompose((failure) -> CompletableFuture.failedFuture(translate(failure)));
    }

    private CompletableFuture<SendResult<String, byte[]>> send(ProducerRecord<String, byte[]> record) {
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
        if (!(cause instanceof RetriableException)) {
            this.broken = true;
        }
        return new BrokerUnavailableException(
                "Topic '%s' has not confirmed the record: %s".formatted(this.topic, cause.getMessage()), cause);
    }

}
