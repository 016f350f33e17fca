package io.delayqueue.redis.check;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;

import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Finds the settings that a Lettuce client of a cluster needs to notice a master that
 * hangs. If a master crashes, connections break and the client refreshes the topology by
 * itself.
 */
final class ClusterRefreshCheck {

    /** Limit of the time that a refresh may wait for the node that hangs. */
    private static final Duration MAX_REFRESH = Duration.ofSeconds(10);

    private ClusterRefreshCheck() {
    }

    /**
     * Checks the settings, without a call to a server.
     * @return the settings to change; empty if none
     */
    static List<String> lacking(LettuceConnectionFactory factory) {
        LettuceClientConfiguration configuration = factory.getClientConfiguration();
        List<String> lacking = new ArrayList<>();
        if (configuration.getClientOptions().filter(ClusterRefreshCheck::isRefreshedPeriodically).isEmpty()) {
            lacking.add("spring.data.redis.lettuce.cluster.refresh.period to 10s or so");
        }
        if (configuration.getCommandTimeout().compareTo(MAX_REFRESH) > 0) {
            lacking.add("spring.data.redis.timeout, which is %d s, to 2s or so"
                .formatted(configuration.getCommandTimeout().toSeconds()));
        }
        return lacking;
    }

    private static boolean isRefreshedPeriodically(ClientOptions options) {
        ClusterTopologyRefreshOptions refresh = (options instanceof ClusterClientOptions ofCluster)
                ? ofCluster.getTopologyRefreshOptions() : null;
        return refresh != null && refresh.isPeriodicRefreshEnabled();
    }

}
