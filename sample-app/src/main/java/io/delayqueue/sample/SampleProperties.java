package io.delayqueue.sample;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Holds the settings of the order service.
 *
 * @param paymentWindow Time to pay an order. Half of it passes before the reminder.
 * @param receiptDelay Time between a payment and its receipt.
 */
@ConfigurationProperties("sample")
record SampleProperties(@DefaultValue("30s") Duration paymentWindow, @DefaultValue("1s") Duration receiptDelay) {
}
