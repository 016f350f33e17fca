package io.delayqueue.sample;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.context.annotation.Profile;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

/**
 * Reads receipts from a topic of Kafka, to which {@code application-kafka.yml} forwards
 * them when they are due. It knows nothing of the delay queue but the headers.
 */
@Component
@Profile("kafka")
class ReceiptConsumer {

    private final JsonMapper json;

    private final EventLog events;

    ReceiptConsumer(JsonMapper json, EventLog events) {
        this.json = json;
        this.events = events;
    }

    @KafkaListener(topics = "receipts")
    void mail(ConsumerRecord<String, String> record) {
        Receipt receipt = this.json.readValue(record.value(), Receipt.class);
        this.events.add(ShopEvent.Kind.RECEIPT_SENT, receipt.orderId(),
                "record %d of topic '%s'".formatted(record.offset(), record.topic()), lateness(record));
    }

    private static Duration lateness(ConsumerRecord<String, String> record) {
        String due = new String(record.headers().lastHeader("delayqueue-due").value(), StandardCharsets.UTF_8);
        return Duration.between(Instant.parse(due), Instant.now());
    }

}
