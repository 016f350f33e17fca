package io.delayqueue.store;

import io.delayqueue.QueueName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RecentLeasesTests {

    private final RecentLeases leases = new RecentLeases();

    @Test
    void theFirstOneIsForgottenForTheOneAfterTheLast() {
        assertThat(this.leases.add(lease(0))).isTrue();
        assertThat(this.leases.add(lease(0))).isFalse();
        for (int i = 1; i < RecentLeases.LIMIT; i++) {
            this.leases.add(lease(i));
        }
        assertThat(this.leases.contains(lease(0))).isTrue();

        this.leases.add(lease(RecentLeases.LIMIT));

        assertThat(this.leases.contains(lease(0))).isFalse();
        assertThat(this.leases.contains(lease(1))).isTrue();
        this.leases.remove(lease(1));
        assertThat(this.leases.add(lease(1))).isTrue();
    }

    private static Lease lease(int token) {
        return new Lease(Partition.first(new QueueName("q")), "a", Integer.toString(token));
    }

}
