package io.delayqueue.autoconfigure;

import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;

/** Auto-configuration that publishes audited operations as Boot's audit events. */
@AutoConfiguration
@ConditionalOnClass(AuditApplicationEvent.class)
@ConditionalOnBooleanProperty(name = "delayqueue.enabled", matchIfMissing = true)
public final class DelayQueueAuditAutoConfiguration {

    DelayQueueAuditAutoConfiguration() {
    }

    @Bean
    AuditEventBridge delayQueueAuditEventBridge(ApplicationEventPublisher events) {
        return new AuditEventBridge(events);
    }

}
