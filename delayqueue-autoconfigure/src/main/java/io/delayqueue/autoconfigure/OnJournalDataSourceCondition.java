package io.delayqueue.autoconfigure;

import javax.sql.DataSource;

import io.delayqueue.journal.DelayQueueDataSource;

import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;

/**
 * Matches if the application has a data source for the journal: a marked one, or the only
 * or primary one.
 */
final class OnJournalDataSourceCondition extends AnyNestedCondition {

    OnJournalDataSourceCondition() {
        super(ConfigurationPhase.REGISTER_BEAN);
    }

    /** Matches if a data source is marked. */
    @ConditionalOnBean(annotation = DelayQueueDataSource.class)
    static final class Marked {

    }

    /** Matches if one data source is the only or primary one. */
    @ConditionalOnSingleCandidate(DataSource.class)
    static final class Single {

    }

}
