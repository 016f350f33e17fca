package io.delayqueue.store.schedule;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

import io.delayqueue.QueueName;
import io.delayqueue.store.schedule.DeclarationResult.Standing;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records the schedules of a queue that this application declares, and stores those whose
 * declarations apply. Stores a schedule again that the store has lost, and records the
 * times in between. Thread-safe.
 */
public final class DeclaredScheduleRegistrar {

    private static final Logger logger = LoggerFactory.getLogger(DeclaredScheduleRegistrar.class);

    private final LocalSchedules schedules;

    private final ScheduleChanger changer;

    private final QueueName queue;

    /** The next times that are known, of schedules that the store should have. */
    private final Map<String, Long> next = new ConcurrentHashMap<>();

    private final Set<String> rejected = ConcurrentHashMap.newKeySet();

    /**
     * Creates one.
     * @param events receives the occurrences that declarations decide about
     * @param executor computes times
     */
    public DeclaredScheduleRegistrar(LocalSchedules schedules, QueueName queue, OccurrenceEvents events,
            Executor executor) {
        this.schedules = schedules;
        this.changer = new ScheduleChanger(schedules, events, executor);
        this.queue = queue;
    }

    /**
     * Returns whether there is anything to assert: schedules that this application
     * declares, or those of the queue, among which may be one that it has declared.
     * @param scheduled whether this process listens to the queue, and that has schedules
     */
    public boolean isNeeded(boolean scheduled) {
        return count() > 0 || (scheduled && this.schedules.isNamed());
    }

    /** Returns how many schedules this application declares. */
    public int count() {
        return this.schedules.declarations(this.queue).size();
    }

    /** Records that a schedule has advanced. */
    public void advanced(String name, long to) {
        this.next.computeIfPresent(name, (key, before) -> to);
    }

    /**
     * Asserts all declarations, also that there are none: then those of earlier versions
     * of this application are removed after an hour.
     */
    public CompletableFuture<Void> assertAll() {
        Map<String, ScheduleDeclaration> declared = this.schedules.declarations(this.queue);
        if (declared.isEmpty() && !this.schedules.isNamed()) {
            return CompletableFuture.completedFuture(null);
        }
        Map<String, String> fingerprints = new LinkedHashMap<>();
        declared.forEach((name, declaration) -> fingerprints.put(name, declaration.fingerprint()));
        return this.schedules.store()
            .declare(this.queue, this.schedules.owner(), this.schedules.isNamed(), fingerprints)
            .thenCompose((result) -> {
                result.removed().forEach((name) -> {
                    this.next.remove(name);
                    logger.info("Schedule '{}' of queue '{}' was removed, as no node has declared it for an hour", name,
                            this.queue);
                });
                List<CompletableFuture<?>> all = new ArrayList<>();
                declared.forEach((name, declaration) -> all.add(apply(declaration, result.standings().get(name))));
                return CompletableFuture.allOf(all.toArray(CompletableFuture<?>[]::new));
            });
    }

    private CompletableFuture<?> apply(ScheduleDeclaration declaration, @Nullable Standing standing) {
        String name = declaration.definition().name();
        if (standing == Standing.FOREIGN) {
            reject(name, "another application declares a schedule of that name");
        }
        if (standing != Standing.WINS) {
            return CompletableFuture.completedFuture(null);
        }
        return this.changer.declare(this.queue, declaration, this.next.getOrDefault(name, ScheduleState.NONE))
            .thenAccept((state) -> state.ifPresentOrElse((stored) -> {
                this.next.put(name, stored.next());
                this.rejected.remove(name);
            }, () -> reject(name, "a call has put a schedule of that name; remove that one, or choose another name")));
    }

    private void reject(String name, String reason) {
        if (this.rejected.add(name)) {
            logger.error("Schedule '{}' of queue '{}' is not declared: {}", name, this.queue, reason);
        }
    }

}
