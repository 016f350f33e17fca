package io.delayqueue.intake;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.delayqueue.admin.NodeStatus.IntakeStatus;
import io.delayqueue.store.DaemonThreads;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Caches the status of this node's intakes for its reports. Each call returns the status
 * as it was read after the call before.
 * <p>
 * <strong>Threads.</strong> Any thread may call; it does not block. A thread of its own
 * reads, as the client of a broker may block meanwhile.
 */
public final class IntakeStatusCache implements Supplier<List<IntakeStatus>> {

    private static final Logger logger = LoggerFactory.getLogger(IntakeStatusCache.class);

    private final Supplier<Stream<IntakeGroup>> groups;

    private final AtomicBoolean reading = new AtomicBoolean();

    private volatile List<IntakeStatus> latest = List.of();

    /** The intakes of this node; {@code null} before the first read. */
    private volatile @Nullable List<Intake> intakes;

    /**
     * Creates a cache that has read nothing yet.
     * @param groups returns the intakes; called once, by the first read
     */
    public IntakeStatusCache(Supplier<Stream<IntakeGroup>> groups) {
        this.groups = groups;
    }

    @Override
    public List<IntakeStatus> get() {
        List<Intake> known = this.intakes;
        boolean none = known != null && known.isEmpty();
        if (!none && this.reading.compareAndSet(false, true)) {
            DaemonThreads.start(this::read, "delayqueue-intake-status");
        }
        return this.latest;
    }

    private void read() {
        try {
            List<Intake> known = this.intakes;
            if (known == null) {
                known = this.groups.get().<Intake>flatMap((group) -> group.intakes().stream()).toList();
                this.intakes = known;
            }
            this.latest = known.stream().map(Intake::status).toList();
        }
        catch (RuntimeException ex) {
            logger.debug("Cannot read the status of the intakes; the next report of this node reads it again", ex);
        }
        finally {
            this.reading.set(false);
        }
    }

}
