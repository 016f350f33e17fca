package io.delayqueue.autoconfigure;

import io.delayqueue.journal.TableNames;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.jdbc.init.DatabaseInitializationProperties;

/** Holds the settings of the tables of the journal. */
@ConfigurationProperties("delayqueue.journal.jdbc")
final class DelayQueueJournalProperties extends DatabaseInitializationProperties {

    private static final String SCHEMA = "classpath:io/delayqueue/journal/schema-@@platform@@.sql";

    private TableNames tables = new TableNames(TableNames.DEFAULT_PREFIX);

    /** Creates settings by which a script that fails stops the start. */
    DelayQueueJournalProperties() {
        setContinueOnError(false);
    }

    @Override
    public String getDefaultSchemaLocation() {
        return SCHEMA;
    }

    /** Returns what the names of the tables begin with. */
    public String getTablePrefix() {
        return this.tables.prefix();
    }

    /**
     * Sets what the names of the tables begin with.
     * @throws IllegalArgumentException if they would not be names of tables
     */
    public void setTablePrefix(String prefix) {
        this.tables = new TableNames(prefix);
    }

    TableNames tables() {
        return this.tables;
    }

}
