package io.delayqueue.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Finds ports that a server can take now and take again after a restart. Threads: safe,
 * it has no state.
 */
final class FreePorts {

    /**
     * A cluster node listens on its port and on this much above it.
     */
    private static final int CLUSTER_BUS_OFFSET = 10_000;

    // Both the port and the bus port stay below 32768, where systems start to hand out
    // ports to outgoing connections: one of those could take the port during a restart.
    private static final int FIRST = 11_000;

    private static final int END = 22_000;

    private FreePorts() {
    }

    static int next() {
        for (int attempt = 0; attempt < 1000; attempt++) {
            int port = ThreadLocalRandom.current().nextInt(FIRST, END);
            if (isFree(port) && isFree(port + CLUSTER_BUS_OFFSET)) {
                return port;
            }
        }
        throw new IllegalStateException("No free port between %d and %d".formatted(FIRST, END));
    }

    private static boolean isFree(int port) {
        try (ServerSocket probe = new ServerSocket()) {
            probe.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return true;
        }
        catch (IOException ex) {
            return false;
        }
    }

}
