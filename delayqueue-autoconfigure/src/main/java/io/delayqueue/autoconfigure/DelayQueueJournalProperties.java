package io.delayqueue.autoconfigure;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.jdbc.init.DatabaseInitializationProperties;

/** Settings of the table of the journal. */
@ConfigurationProperties("delayqueue.journal.jdbc")
final class DelayQueueJournalProperties extends DatabaseInitializationProperties {

    private static final String SCHEMA = "classpath:io/delayqueue/journal/schema-@@platform@@.sql";

    @Override
    public String getDefaultSchemaLocation() {
        return SCHEMA;
    }

}
