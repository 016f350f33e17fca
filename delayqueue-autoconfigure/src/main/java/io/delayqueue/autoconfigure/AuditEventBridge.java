package io.delayqueue.autoconfigure;

import java.util.LinkedHashMap;
import java.util.Map;

import io.delayqueue.admin.AuditedOperationEvent;

import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;

/** Publishes audited operations as Boot's audit events. */
final class AuditEventBridge implements ApplicationListener<PayloadApplicationEvent<AuditedOperationEvent>> {

    private final ApplicationEventPublisher events;

    AuditEventBridge(ApplicationEventPublisher events) {
        this.events = events;
    }

    @Override
    public void onApplicationEvent(PayloadApplicationEvent<AuditedOperationEvent> published) {
        AuditedOperationEvent event = published.getPayload();
        Map<String, Object> data = new LinkedHashMap<>();
        if (event.queue() != null) {
            data.put("queue", event.queue());
        }
        if (event.filter() != null) {
            data.put("filter", event.filter());
        }
        data.put("count", event.count());
        data.put("outcome", event.outcome().name());
        this.events.publishEvent(
                new AuditApplicationEvent(event.principal(), "delayqueue." + event.operation(), Map.copyOf(data)));
    }

}
