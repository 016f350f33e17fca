package io.delayqueue.store;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Checks the servers that store messages for problems, whenever it is called.
 * <p>
 * <strong>Threads.</strong> Any; calls do not block. Failures are the same as in
 * {@link MessageStore}.
 */
public interface ServerMonitor {

    /** Monitor of a store without a server. */
    ServerMonitor NONE = () -> CompletableFuture.completedFuture(List.of());

    /** Returns the configured address of the server; empty if there is none. */
    default String address() {
        return "";
    }

    /**
     * Returns the current problems; empty if none was found. A call during a running
     * check returns the result of that check.
     */
    CompletableFuture<List<ServerIssue>> check();

}
