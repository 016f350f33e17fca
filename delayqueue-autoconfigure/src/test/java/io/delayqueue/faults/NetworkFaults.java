package io.delayqueue.faults;

import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;

import io.delayqueue.testing.TcpProxy;

/** What happens between nodes and Redis, to one of them or to all. */
final class NetworkFaults {

    private NetworkFaults() {
    }

    static Fault refuse(boolean all) {
        return lasting("connections refused", all, TcpProxy::refuse);
    }

    /** Half-open: nothing comes through, and nobody is told. */
    static Fault blackhole(boolean all) {
        return lasting("packets lost", all, TcpProxy::blackhole);
    }

    static Fault reset(boolean all) {
        return lasting("connections reset", all, TcpProxy::reset);
    }

    static Fault delay(boolean all) {
        return lasting("latency of 100 ms each way", all, (proxy) -> proxy.delay(Duration.ofMillis(100)));
    }

    /** Each packet late by something else. */
    static Fault jitter() {
        return new Fault("jitter of 0 to 80 ms, all nodes", (run, random) -> {
            for (int i = 0; i < 40; i++) {
                for (FaultRun.Seat seat : run.seats()) {
                    seat.proxy().delay(Duration.ofMillis(random.nextInt(80)));
                }
                Thread.sleep(50);
            }
            run.seats().forEach((seat) -> seat.proxy().pass());
        });
    }

    static Fault loseReply() {
        return new Fault("a reply lost", (run, random) -> {
            run.seat(random).proxy().loseReplyTo("EVALSHA");
            Thread.sleep(200);
        });
    }

    static Fault loseRequest() {
        return new Fault("a request lost", (run, random) -> {
            run.seat(random).proxy().loseRequest("EVALSHA");
            Thread.sleep(200);
        });
    }

    static List<Fault> all() {
        return List.of(refuse(true), refuse(false), blackhole(true), blackhole(false), reset(true), reset(false),
                delay(true), delay(false), jitter(), loseReply(), loseRequest());
    }

    static Fault any(SplittableRandom random) {
        List<Fault> all = all();
        return all.get(random.nextInt(all.size()));
    }

    private static Fault lasting(String what, boolean all, Consumer<TcpProxy> change) {
        return new Fault(what + (all ? ", all nodes" : ", one node"), (run, random) -> {
            List<FaultRun.Seat> seats = all ? run.seats() : List.of(run.seat(random));
            seats.forEach((seat) -> change.accept(seat.proxy()));
            Thread.sleep(300 + random.nextInt(2500));
            seats.forEach((seat) -> seat.proxy().pass());
        });
    }

}
