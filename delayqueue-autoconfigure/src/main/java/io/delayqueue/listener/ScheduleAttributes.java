package io.delayqueue.listener;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZoneId;
import java.util.Arrays;

import io.delayqueue.DelayedSchedule;
import io.delayqueue.MisfirePolicy;
import io.delayqueue.OverlapPolicy;
import io.delayqueue.QueueName;
import io.delayqueue.ScheduleDefinition;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;

/**
 * Resolves the attributes of one {@link DelayedSchedule}. Throws an
 * {@link IllegalArgumentException} that names the attribute, its value and the rule if
 * one is invalid.
 */
final class ScheduleAttributes {

    private final DelayedSchedule annotation;

    private final AttributeResolver resolver;

    ScheduleAttributes(DelayedSchedule annotation, @Nullable ConfigurableBeanFactory beanFactory) {
        this.annotation = annotation;
        this.resolver = new AttributeResolver(beanFactory);
    }

    /** Returns the queue; {@code null} for that of the listener. */
    @Nullable QueueName queue() {
        String queue = this.resolver.text("queue", this.annotation.queue());
        return (queue != null) ? new QueueName(queue) : null;
    }

    /** Returns the payload, as JSON. */
    String payload() {
        String payload = this.resolver.text("payload", this.annotation.payload());
        return (payload != null) ? payload : "{}";
    }

    ScheduleDefinition definition() {
        ScheduleDefinition.Builder builder = times();
        Duration timeToLive = this.resolver.duration("timeToLive", this.annotation.timeToLive());
        if (timeToLive != null) {
            builder.timeToLive(timeToLive);
        }
        Duration jitter = this.resolver.duration("jitter", this.annotation.jitter());
        if (jitter != null) {
            builder.jitter(jitter);
        }
        Integer catchUpLimit = this.resolver.integer("catchUpLimit", this.annotation.catchUpLimit());
        if (catchUpLimit != null) {
            builder.catchUpLimit(catchUpLimit);
        }
        ZoneId zone = this.resolver.convert("zone", this.annotation.zone(), "a time zone such as Europe/Berlin",
                ScheduleAttributes::zone);
        if (zone != null) {
            builder.zone(zone);
        }
        return builder.misfire(constant("misfire", this.annotation.misfire(), MisfirePolicy.ONCE))
            .overlap(constant("overlap", this.annotation.overlap(), OverlapPolicy.ALLOW))
            .build();
    }

    private ScheduleDefinition.Builder times() {
        String name = this.resolver.text("name", this.annotation.name());
        String cron = this.resolver.text("cron", this.annotation.cron());
        Duration fixedRate = this.resolver.duration("fixedRate", this.annotation.fixedRate());
        if ((cron == null) == (fixedRate == null)) {
            throw new IllegalArgumentException("cron or fixedRate is needed, and not both, but they were '%s' and '%s'"
                .formatted(this.annotation.cron(), this.annotation.fixedRate()));
        }
        String given = (name != null) ? name : "";
        return (fixedRate != null) ? ScheduleDefinition.fixedRate(given, fixedRate)
                : ScheduleDefinition.cron(given, String.valueOf(cron));
    }

    private static ZoneId zone(String text) {
        try {
            return ZoneId.of(text);
        }
        catch (DateTimeException ex) {
            throw new IllegalArgumentException(ex.getMessage(), ex);
        }
    }

    private <E extends Enum<E>> E constant(String attribute, String value, E usual) {
        Class<E> type = usual.getDeclaringClass();
        E constant = this.resolver.convert(attribute, value, "one of " + Arrays.toString(type.getEnumConstants()),
                (text) -> Enum.valueOf(type, text));
        return (constant != null) ? constant : usual;
    }

}
