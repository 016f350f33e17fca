package io.delayqueue.template;

import org.springframework.transaction.SavepointManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.SmartTransactionObject;

/**
 * Transactions without a resource: the life cycle, suspension and savepoints alone.
 */
class ResourcelessTransactionManager extends AbstractPlatformTransactionManager {

    private static final long serialVersionUID = 1L;

    private transient Begun current;

    ResourcelessTransactionManager() {
        setNestedTransactionAllowed(true);
    }

    @Override
    protected Object doGetTransaction() {
        return (this.current != null) ? this.current : new Begun();
    }

    @Override
    protected boolean isExistingTransaction(Object transaction) {
        return this.current != null;
    }

    @Override
    protected void doBegin(Object transaction, TransactionDefinition definition) {
        this.current = new Begun();
    }

    @Override
    protected Object doSuspend(Object transaction) {
        Begun suspended = this.current;
        this.current = null;
        return suspended;
    }

    @Override
    protected void doResume(Object transaction, Object suspended) {
        this.current = (Begun) suspended;
    }

    @Override
    protected void doCommit(DefaultTransactionStatus status) {
    }

    @Override
    protected void doRollback(DefaultTransactionStatus status) {
    }

    @Override
    protected void doCleanupAfterCompletion(Object transaction) {
        this.current = null;
    }

    private static final class Begun implements SavepointManager, SmartTransactionObject {

        @Override
        public Object createSavepoint() {
            return new Object();
        }

        @Override
        public void rollbackToSavepoint(Object savepoint) {
        }

        @Override
        public void releaseSavepoint(Object savepoint) {
        }

        @Override
        public boolean isRollbackOnly() {
            return false;
        }

        @Override
        public void flush() {
        }

    }

}
