package io.delayqueue.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * Breaks nodes, Redis and the network at once, at random. Threads: three of its own.
 */
final class Mixture {

    private final FaultRun run;

    private final SplittableRandom random;

    private final long until;

    private Mixture(FaultRun run, long seed, Duration length) {
        this.run = run;
        this.random = new SplittableRandom(seed);
        this.until = System.nanoTime() + length.toNanos();
    }

    /** Returns when all is well again. */
    static void happen(FaultRun run, long seed, Duration length) {
        Mixture mixture = new Mixture(run, seed, length);
        List<CompletableFuture<Void>> all = new ArrayList<>();
        all.add(mixture.start(NodeFaults::any));
        all.add(mixture.start(RedisFaults::any));
        all.add(mixture.start(NetworkFaults::any));
        all.forEach(CompletableFuture::join);
    }

    private CompletableFuture<Void> start(Function<SplittableRandom, Fault> any) {
        SplittableRandom own = this.random.split();
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                while (System.nanoTime() < this.until) {
                    Thread.sleep(own.nextInt(1500));
                    any.apply(own).happen(this.run, own);
                }
                done.complete(null);
            }
            catch (Throwable ex) {
                done.completeExceptionally(ex);
            }
        }, "faults");
        thread.start();
        return done;
    }

}
