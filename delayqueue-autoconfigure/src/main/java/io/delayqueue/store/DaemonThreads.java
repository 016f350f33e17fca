package io.delayqueue.store;

import java.util.concurrent.ThreadFactory;

/** Creates threads that do not keep the process alive. */
public final class DaemonThreads {

    private DaemonThreads() {
    }

    /** Starts a thread. */
    public static Thread start(Runnable task, String name) {
        Thread thread = create(task, name);
        thread.start();
        return thread;
    }

    /** Returns a factory whose threads all have the same name. */
    public static ThreadFactory named(String name) {
        return (task) -> create(task, name);
    }

    private static Thread create(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

}
