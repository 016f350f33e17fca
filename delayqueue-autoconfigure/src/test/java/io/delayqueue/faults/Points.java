package io.delayqueue.faults;

import java.io.IOException;
import java.util.concurrent.locks.LockSupport;

import io.delayqueue.faults.Event.Kind;
import org.jspecify.annotations.Nullable;

/**
 * Places in a node at which it can be killed: {@code claim.before}, {@code handler.end}
 * and so on. The thread that comes by never leaves. Threads: safe.
 */
final class Points {

    private final HistoryFile history;

    private volatile @Nullable String armed;

    Points(HistoryFile history) {
        this.history = history;
    }

    /** Has the node die at its next visit to the point. */
    void arm(String point) {
        this.armed = point;
    }

    void pass(String point) {
        if (!point.equals(this.armed)) {
            return;
        }
        this.history.write(Kind.FAULT, "", 0, "text", "dies at " + point, "state", "dies");
        try {
            new ProcessBuilder("kill", "-KILL", Long.toString(ProcessHandle.current().pid())).start();
        }
        catch (IOException ex) {
            Runtime.getRuntime().halt(9);
        }
        while (true) {
            LockSupport.park(this);
        }
    }

}
