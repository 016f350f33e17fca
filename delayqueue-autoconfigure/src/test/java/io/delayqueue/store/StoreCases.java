package io.delayqueue.store;

import org.junit.jupiter.api.AfterEach;

/** Cases of {@link MessageStoreContract} on one subject. */
abstract class StoreCases {

    final StoreDriver dq;

    StoreCases(MessageStoreContract contract) {
        this.dq = new StoreDriver(contract);
    }

    @AfterEach
    void leavesNothingBehind() {
        this.dq.finish();
    }

}
