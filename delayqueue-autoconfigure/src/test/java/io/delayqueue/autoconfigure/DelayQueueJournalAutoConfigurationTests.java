package io.delayqueue.autoconfigure;

import io.delayqueue.journal.HistoryFactory;
import io.delayqueue.journal.Journal;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.routing.StoreComponents;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the journal in applications without a database. */
class DelayQueueJournalAutoConfigurationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
        .withConfiguration(
                AutoConfigurations.of(DelayQueueAutoConfiguration.class, DelayQueueJournalAutoConfiguration.class))
        .withPropertyValues("delayqueue.store=memory");

    @Test
    void thereIsNoJournalByDefault() {
        this.runner.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(Journal.class));
    }

    /** Without the mode, every call goes to the store directly. */
    @ParameterizedTest
    @ValueSource(strings = { "delayqueue.journal.mode=off", "delayqueue.queues.orders.journal-mode=off" })
    void aHistoryThatIsOffCostsNothing(String mode) {
        this.runner.withPropertyValues(mode)
            .run((context) -> assertThat(context).doesNotHaveBean(HistoryFactory.class)
                .getBean(StoreComponents.class)
                .extracting(StoreComponents::messages)
                .isSameAs(context.getBean(MessageStore.class)));
    }

    /** An application whose transitions would be lost does not start. */
    @ParameterizedTest
    @ValueSource(strings = { "delayqueue.journal.mode=audit", "delayqueue.queues.orders.journal-mode=audit" })
    void anAuditWithoutADatabaseStopsTheStart(String mode) {
        this.runner.withPropertyValues(mode)
            .run((context) -> assertThat(context).hasFailed()
                .getFailure()
                .hasStackTraceContaining("needs spring-boot-jdbc and one DataSource bean")
                .hasStackTraceContaining("Without it no transition would be recorded"));
    }

    /** An audit records nothing but the history. */
    @ParameterizedTest
    @ValueSource(strings = { "delayqueue.journal.mode=audit", "delayqueue.queues.orders.journal-mode=audit" })
    void anAuditWithoutAHistoryStopsTheStart(String mode) {
        this.runner.withPropertyValues(mode, "delayqueue.journal.history.enabled=false")
            .run((context) -> assertThat(context).hasFailed()
                .getFailure()
                .hasStackTraceContaining("delayqueue.journal.history.enabled")
                .hasStackTraceContaining("true with a journal mode 'audit'"));
    }

    /** P1: an application whose sends would bypass the journal does not start. */
    @ParameterizedTest
    @ValueSource(strings = { "delayqueue.journal.mode=outbox", "delayqueue.queues.orders.journal-mode=outbox" })
    void aJournalWithoutADatabaseStopsTheStart(String mode) {
        this.runner.withPropertyValues(mode)
            .run((context) -> assertThat(context).hasFailed()
                .getFailure()
                .hasStackTraceContaining("needs spring-boot-jdbc and one DataSource bean")
                .hasStackTraceContaining("Without it sends would bypass the journal"));
    }

}
