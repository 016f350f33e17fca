package io.delayqueue.redis.wakeup;

import java.util.ArrayList;
import java.util.List;

import io.delayqueue.store.Partition;
import io.delayqueue.store.WakeUpSignal;

/** Parses messages of a wake-up channel for tests of other packages. */
public final class WakeUpParsers {

    private WakeUpParsers() {
    }

    public static WakeUpSignal signalOf(byte[] message) {
        return PartitionListeners.signalOf(message);
    }

    /** Returns what a listener receives for a keyspace notification. */
    public static List<WakeUpSignal> ofKeyspace(Partition partition, byte[] event) {
        List<WakeUpSignal> heard = new ArrayList<>();
        PartitionListeners listeners = new PartitionListeners(partition, "x", Runnable::run);
        listeners.add(heard::add);
        listeners.received(event);
        return heard;
    }

}
