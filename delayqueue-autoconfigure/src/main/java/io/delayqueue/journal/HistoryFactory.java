package io.delayqueue.journal;

import java.util.function.Function;
import java.util.function.Supplier;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.QueueName;
import io.delayqueue.admin.MessageHistory;
import io.delayqueue.store.MessageStore;

import org.springframework.context.SmartLifecycle;

/** Creates the parts of a history, which share a table and a buffer. */
public final class HistoryFactory {

    private final HistoryTable table;

    private final HistoryWriter writer;

    private final HistorySettings settings;

    private final Function<QueueName, JournalMode> modes;

    /**
     * Creates a factory.
     * @param database the database
     * @param node the name of this process
     * @param modes the mode of each queue
     * @param settings the settings of the history
     */
    public HistoryFactory(JournalDatabase database, String node, Function<QueueName, JournalMode> modes,
            HistorySettings settings) {
        this.table = new HistoryTable(database, node, System::nanoTime);
        this.writer = new HistoryWriter(this.table, settings);
        this.settings = settings;
        this.modes = modes;
    }

    /** Returns a store that records what another one does. */
    public MessageStore recording(MessageStore store) {
        return new HistoryRecorder(store, (queue) -> this.modes.apply(queue).recordsHistory(), this.settings.causes(),
                this.writer::add, System::nanoTime);
    }

    /** Returns the writer, which writes what was recorded while it runs. */
    public SmartLifecycle writer() {
        return this.writer;
    }

    /**
     * Returns the history of messages.
     * @param operations removes the messages of erased ids
     */
    public MessageHistory messages(Supplier<DelayQueueOperations> operations) {
        return new RecordedMessageHistory(this.table, this.writer, operations);
    }

    /** Returns the number of transitions that were dropped. */
    public long dropped() {
        return this.writer.dropped();
    }

}
