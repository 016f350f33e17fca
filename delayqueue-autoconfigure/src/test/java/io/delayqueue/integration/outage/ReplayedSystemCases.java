package io.delayqueue.integration.outage;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.delayqueue.ResumeResult;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.redis.script.LoadedScripts;
import io.delayqueue.store.SecretStore;

import static org.assertj.core.api.Assertions.assertThat;

/** The scripts of queues and of the namespace, for {@link ReplayedScriptTests}. */
final class ReplayedSystemCases extends ReplayedCases {

    ReplayedSystemCases(ReplayedApplication replayed) {
        super(replayed);
    }

    @Override
    Map<String, Runnable> cases() {
        return Map.ofEntries(Map.entry("partitions", () -> {
            aRepartition();
            aPause();
        }), Map.entry("check-server", this::aStartOfAnApplication), Map.entry("secret", this::aSecretOfTheNamespace));
    }

    private void aRepartition() {
        this.queue.sendAll(plain(5, FAR));
        // Loses the answer of each of its calls in turn, until none is left.
        int lost = 0;
        int before = 1;
        while (!this.loss.isPending()) {
            int next = 2 + lost % 2;
            this.loss.next(LoadedScripts.sha("partitions"), lost);
            assertThat(this.queue.repartition("orders", next)).isEqualTo(before);
            before = next;
            assertThat(counts()).isEqualTo(List.of(5L, 0L, 0L));
            lost++;
        }
        assertThat(lost).isGreaterThan(3);
        cancelAll(5);
    }

    private void aPause() {
        int lost = 0;
        do {
            this.loss.next(LoadedScripts.sha("partitions"), lost);
            if (lost % 2 == 0) {
                assertThat(this.queue.pause("orders").alreadyPaused()).isFalse();
            }
            else {
                assertThat(this.queue.resume("orders")).isEqualTo(ResumeResult.RESUMED);
            }
            lost++;
        }
        while (!this.loss.isPending());
        assertThat(lost).isGreaterThan(3);
        this.queue.resume("orders");
    }

    private void aStartOfAnApplication() {
        Application worker = repeated("check-server", () -> this.applications
            .start(Applications.HandlerConfiguration.class, Applications.at(this.loss.port())));
        this.queue.send("orders", new Order(1), Duration.ZERO);
        Applications.awaitTrue("it is handled", () -> !worker.handler().rest().isEmpty());
        this.applications.assertNoKeysLeft(this.redis);
    }

    private void aSecretOfTheNamespace() {
        byte[] candidate = new byte[SecretStore.SECRET_BYTES];
        byte[] secret = repeated("secret", () -> this.secrets.getOrCreate(candidate).join());

        assertThat(secret).isEqualTo(candidate);
        byte[] another = new byte[SecretStore.SECRET_BYTES];
        another[0] = 1;
        assertThat(this.secrets.getOrCreate(another).join()).isEqualTo(secret);
        this.applications.keys(this.redis)
            .stream()
            .filter((key) -> key.endsWith(":secret"))
            .forEach((key) -> this.redis.commands().del(key));
    }

}
