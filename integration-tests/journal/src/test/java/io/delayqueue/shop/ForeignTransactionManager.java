package io.delayqueue.shop;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

/** Begins transactions of no database. */
final class ForeignTransactionManager extends AbstractPlatformTransactionManager {

    private static final long serialVersionUID = 1L;

    @Override
    protected Object doGetTransaction() {
        return this;
    }

    @Override
    protected void doBegin(Object transaction, TransactionDefinition definition) {
        // There is no resource.
    }

    @Override
    protected void doCommit(DefaultTransactionStatus status) {
        // There is no resource.
    }

    @Override
    protected void doRollback(DefaultTransactionStatus status) {
        // There is no resource.
    }

}
