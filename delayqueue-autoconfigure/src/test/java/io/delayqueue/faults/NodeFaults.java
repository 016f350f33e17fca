package io.delayqueue.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** What happens to nodes. */
final class NodeFaults {

    /** Calls of a store that a node is killed before and after. */
    private static final List<String> CALLS = List.of("schedule", "claim", "acknowledge", "retry", "release",
            "dead-letter", "extend", "start", "cancel", "reschedule");

    /** Longer than a point that is rare takes to be passed. */
    private static final int LOOKS = 100;

    private static final int MANY = 16;

    private static final int TRIES = 5;

    private NodeFaults() {
    }

    static Fault kill() {
        return new Fault("node killed", (run, random) -> {
            FaultRun.Seat seat = run.mortal(random);
            seat.restart();
            seat.awaitReady();
        });
    }

    /** Killed while it does something certain, unless it does not come to that. */
    static Fault killAt(String point) {
        return new Fault("node killed at " + point, (run, random) -> {
            FaultRun.Seat seat = run.mortal(random);
            seat.node().tell("arm " + point);
            for (int i = 0; i < LOOKS && seat.node().isAlive(); i++) {
                Thread.sleep(50);
            }
            seat.restart();
            seat.awaitReady();
        });
    }

    /** Killed before or after it notes that it begins with what another has left. */
    static Fault killAtStart(String point) {
        return new Fault("node killed at " + point, (run, random) -> {
            FaultRun.Seat heir = run.mortal(random);
            heir.node().tell("arm " + point);
            // More than one node has handlers for, so that the others have some of them.
            for (int i = 0; i < MANY; i++) {
                heir.node().tell("give " + Job.Fate.SLOW);
            }
            Thread.sleep(FaultRun.LEASE.toMillis() / 2);
            for (FaultRun.Seat seat : run.seats()) {
                if (seat != heir) {
                    seat.restart();
                }
            }
            for (int i = 0; i < 2 * LOOKS && heir.node().isAlive(); i++) {
                Thread.sleep(50);
            }
            heir.restart();
            for (FaultRun.Seat seat : run.seats()) {
                seat.awaitReady();
            }
        });
    }

    /** Killed at a point that it only passes while it stops. */
    static Fault killWhileStopping(String point) {
        return new Fault("node killed while stopping at " + point, (run, random) -> {
            // One that has just begun may have nothing yet to pass there with.
            boolean died = false;
            for (int i = 0; i < TRIES && !died; i++) {
                FaultRun.Seat seat = run.mortal(random);
                seat.node().tell("arm " + point);
                died = seat.node().stop() != 0;
                seat.restart();
                seat.awaitReady();
            }
        });
    }

    /** Stands still for longer than a lease, and goes on as if nothing had been. */
    static Fault suspend() {
        return new Fault("node suspended", (run, random) -> {
            FaultRun.Seat seat = run.seat(random);
            seat.node().signal("STOP");
            Thread.sleep(FaultRun.LEASE.toMillis() + random.nextInt(2000));
            seat.node().signal("CONT");
        });
    }

    static Fault stop() {
        return new Fault("node stopped", (run, random) -> {
            FaultRun.Seat seat = run.mortal(random);
            seat.stop();
            seat.restart();
            seat.awaitReady();
        });
    }

    static Fault rollingRestart() {
        return new Fault("rolling restart", (run, random) -> {
            for (FaultRun.Seat seat : run.seats()) {
                seat.stop();
                seat.restart();
                seat.awaitReady();
            }
        });
    }

    static List<String> points() {
        List<String> points = new ArrayList<>(List.of("handler.begin", "handler.end"));
        for (String call : CALLS) {
            points.add(call + ".before");
            points.add(call + ".after");
        }
        return points;
    }

    static List<Fault> all() {
        List<Fault> all = new ArrayList<>(List.of(kill(), suspend(), stop(), rollingRestart()));
        points().forEach((point) -> all.add(point.startsWith("start.") ? killAtStart(point) : killAt(point)));
        List.of("resign.before", "resign.after", "acknowledge.after", "handler.end")
            .forEach((point) -> all.add(killWhileStopping(point)));
        return all;
    }

    /** Any of them, each of the few kinds as likely as any point. */
    static Fault any(SplittableRandom random) {
        List<Fault> plain = List.of(kill(), suspend(), suspend(), stop());
        List<String> points = points();
        return random.nextBoolean() ? plain.get(random.nextInt(plain.size()))
                : killAt(points.get(random.nextInt(points.size())));
    }

}
