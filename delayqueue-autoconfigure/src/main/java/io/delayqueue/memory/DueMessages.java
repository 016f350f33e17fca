package io.delayqueue.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import io.delayqueue.MessageLimits;
import io.delayqueue.store.MessageStore;

/**
 * Takes due messages out of the lanes for one claim, and removes expired ones, as {@code
 * claim.lua} does: at most the requested number, until their contents are too large, and
 * no more than {@link MessageStore#BATCH_LIMIT} expired ones. Guarded as
 * {@link MemoryQueue} is.
 */
final class DueMessages {

    private final MemoryLanes lanes;

    private final long nowMillis;

    private final int limit;

    private final List<MemoryMessage> taken = new ArrayList<>();

    private int expired;

    private long bytes;

    DueMessages(MemoryLanes lanes, long nowMillis, int limit) {
        this.lanes = lanes;
        this.nowMillis = nowMillis;
        this.limit = limit;
    }

    /**
     * Goes through the lanes, and starts over after an expired message, as the next
     * message of its group may be due in a higher lane.
     * @param remove removes a message that has expired
     */
    void take(Consumer<MemoryMessage> remove) {
        int before;
        do {
            before = this.expired;
            for (int lane = MessageLimits.MAX_PRIORITY; lane >= MessageLimits.MIN_PRIORITY
                    && this.expired == before; lane--) {
                int room = Math.min(this.limit - this.taken.size(), MessageStore.BATCH_LIMIT - this.expired);
                for (MemoryMessage message : this.lanes.due(lane, this.nowMillis).limit(room).toList()) {
                    takeOrRemove(message, remove);
                }
            }
        }
        while (this.expired > before);
    }

    private void takeOrRemove(MemoryMessage message, Consumer<MemoryMessage> remove) {
        if (this.bytes > MessageStore.CONTENT_LIMIT) {
            return;
        }
        this.bytes += message.envelope.length;
        if (message.isExpired(this.nowMillis)) {
            this.expired++;
            remove.accept(message);
        }
        else {
            this.lanes.take(message);
            this.taken.add(message);
        }
    }

    List<MemoryMessage> taken() {
        return this.taken;
    }

    int expired() {
        return this.expired;
    }

}
