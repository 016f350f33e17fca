package io.delayqueue.intake;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.springframework.context.SmartLifecycle;

/** Starts and stops the intakes of one kind of broker together. */
public final class IntakeGroup implements SmartLifecycle {

    /** Stops consumers early, as the listeners of the library. */
    private static final int PHASE = Integer.MAX_VALUE - 100;

    private final List<? extends Intake> intakes;

    private volatile boolean running;

    public IntakeGroup(List<? extends Intake> intakes) {
        this.intakes = List.copyOf(intakes);
    }

    public List<? extends Intake> intakes() {
        return this.intakes;
    }

    @Override
    public void start() {
        this.running = true;
        this.intakes.forEach(Intake::start);
    }

    @Override
    public void stop() {
        this.running = false;
        this.intakes.forEach(Intake::stop);
    }

    @Override
    public void stop(Runnable callback) {
        this.running = false;
        if (this.intakes.isEmpty()) {
            callback.run();
            return;
        }
        AtomicInteger left = new AtomicInteger(this.intakes.size());
        this.intakes.forEach((intake) -> intake.stop(() -> {
            if (left.decrementAndGet() == 0) {
                callback.run();
            }
        }));
    }

    @Override
    public boolean isRunning() {
        return this.running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

}
