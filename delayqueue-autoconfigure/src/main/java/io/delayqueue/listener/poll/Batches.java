package io.delayqueue.listener.poll;

import java.util.ArrayList;
import java.util.List;

import io.delayqueue.store.MessageStore;

/** Splits lists into batches that a store accepts in one call. */
final class Batches {

    private Batches() {
    }

    static <T> List<List<T>> of(List<T> all) {
        List<List<T>> batches = new ArrayList<>();
        for (int from = 0; from < all.size(); from += MessageStore.BATCH_LIMIT) {
            batches.add(all.subList(from, Math.min(all.size(), from + MessageStore.BATCH_LIMIT)));
        }
        return batches;
    }

}
