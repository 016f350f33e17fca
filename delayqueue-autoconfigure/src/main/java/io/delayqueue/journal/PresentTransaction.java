package io.delayqueue.journal;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Checks whether the transaction of the calling thread is one of a data source. A
 * connection that is bound to the thread does not suffice: inside a transaction of
 * something else, each JDBC statement binds one that commits by itself.
 */
final class PresentTransaction extends DataSourceTransactionManager {

    private static final long serialVersionUID = 1L;

    PresentTransaction(DataSource dataSource) {
        super(dataSource);
    }

    /**
     * Returns whether the present transaction is one of JDBC or of JPA on the data
     * source.
     */
    boolean isOfDataSource() {
        ConnectionHolder holder = (ConnectionHolder) TransactionSynchronizationManager.getResource(obtainDataSource());
        // JPA binds its connection without synchronization.
        return holder != null && (!holder.isSynchronizedWithTransaction() || isExistingTransaction(doGetTransaction()));
    }

}
