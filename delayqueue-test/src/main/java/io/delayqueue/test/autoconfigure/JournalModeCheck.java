package io.delayqueue.test.autoconfigure;

import java.util.Locale;
import java.util.Map;

import io.delayqueue.journal.JournalMode;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/**
 * Rejects journals that record requests. Their relay and their reconciler have threads
 * and clocks of their own, so messages would arrive in real time, and rows would disagree
 * with a store whose time jumps.
 */
final class JournalModeCheck implements BeanFactoryPostProcessor {

    private static final String ALL = "delayqueue.journal.mode";

    private final Environment environment;

    JournalModeCheck(Environment environment) {
        this.environment = environment;
    }

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
        Binder binder = Binder.get(this.environment);
        require("any queue", binder.bind(ALL, JournalMode.class).orElse(JournalMode.OFF), ALL);
        binder.bind("delayqueue.queues", Bindable.mapOf(String.class, Queue.class))
            .orElseGet(Map::of)
            .forEach((name, queue) -> require("queue '%s'".formatted(name), queue.journalMode(),
                    "delayqueue.queues.%s.journal-mode".formatted(name)));
    }

    private static void require(String queue, @Nullable JournalMode mode, String property) {
        if (mode != null && mode.recordsRequests()) {
            throw new IllegalStateException(
                    ("The DelayQueueTester cannot test %s in virtual time: its journal, in mode "
                            + "'%s', applies messages in real time. Set %s=off for tests with a tester, and test the journal, and "
                            + "transactional listeners, in real time")
                        .formatted(queue, mode.name().toLowerCase(Locale.ROOT), property));
        }
    }

    /**
     * Holds the setting of a queue.
     *
     * @param journalMode its mode
     */
    record Queue(@Nullable JournalMode journalMode) {
    }

}
