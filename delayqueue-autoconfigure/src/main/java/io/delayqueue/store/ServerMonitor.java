package io.delayqueue.store;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Looks at the servers that messages are kept on, for what is wrong with them.
 * <p>
 * <strong>Threads.</strong> Any, which are not kept waiting. Failures are as with
 * {@link MessageStore}.
 */
public interface ServerMonitor {

    /** Of a store that has no server. */
    ServerMonitor NONE = () -> CompletableFuture.completedFuture(List.of());

    /**
     * What is wrong now; empty if nothing is that could be seen. Who asks before an
     * earlier look has ended gets what that one brings.
     */
    CompletableFuture<List<ServerIssue>> look();

}
