package io.delayqueue.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.delayqueue.DeadLetter;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.faults.Event.Kind;

/**
 * Takes what is sent to a queue without a listener, and brings some back from the dead.
 * Threads: one of its own, which any may stop.
 */
final class Taker {

    private static final Duration WAIT = Duration.ofMillis(500);

    private static final Duration BACKOFF = Duration.ofMillis(50);

    private final DelayQueueOperations queue;

    private final HistoryFile history;

    private final long slowMillis;

    private final Set<String> cameBack = ConcurrentHashMap.newKeySet();

    private final Thread thread = new Thread(this::run, "taker");

    private volatile boolean redrives;

    private volatile boolean stopped;

    /**
     * @param slowMillis how long a slow message takes
     */
    Taker(DelayQueueOperations queue, HistoryFile history, long slowMillis) {
        this.queue = queue;
        this.history = history;
        this.slowMillis = slowMillis;
    }

    void start() {
        this.thread.setDaemon(true);
        this.thread.start();
    }

    /** Whether to bring back what is dead. */
    void turn(boolean on) {
        this.redrives = on;
    }

    /** Ends once what it has is settled. */
    void stop() {
        this.stopped = true;
        try {
            this.thread.join(2 * this.slowMillis);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        for (int turn = 0; !this.stopped; turn++) {
            try {
                Optional<ReceivedMessage> message = this.queue.receive(Workload.TAKEN, WAIT);
                if (message.isPresent()) {
                    handle(message.get());
                }
                if (this.redrives && turn % 8 == 0) {
                    redriveOne();
                }
            }
            catch (DelayQueueException ex) {
                // What it had comes back when its lease runs out.
            }
            catch (InterruptedException ex) {
                return;
            }
        }
    }

    private void handle(ReceivedMessage message) throws InterruptedException {
        Job job = message.payload(Job.class);
        long call = this.history.nextCall();
        List<String> facts = new ArrayList<>(List.of("number", job.number(), "queue", message.queue(), "attempt",
                Integer.toString(message.attempt()), "lapses", "0"));
        message.group().ifPresent((group) -> facts.addAll(List.of("group", group)));
        this.history.write(Kind.HANDLE, message.id(), call, facts.toArray(String[]::new));
        boolean back = job.fate() == Job.Fate.COMES_BACK && this.cameBack.add(job.number());
        boolean fails = job.fate() == Job.Fate.DOOMED || job.fate() == Job.Fate.FAILS_ONCE && message.attempt() == 1;
        if (job.fate() == Job.Fate.SLOW && message.extend(Duration.ofMillis(2 * this.slowMillis))) {
            // No longer, as all that comes after has to wait for it.
            Thread.sleep(BACKOFF.toMillis());
        }
        this.history.write(Kind.HANDLE_END, message.id(), call, "number", job.number(), "result",
                (back || fails) ? "failed" : "ok");
        if (back) {
            message.release(BACKOFF);
        }
        else if (fails) {
            message.retry(BACKOFF, "It is the fate of " + job.number());
        }
        else {
            message.acknowledge();
        }
    }

    private void redriveOne() {
        List<DeadLetter> letters = this.queue.deadLetters(Workload.TAKEN).list(null, 1).letters();
        for (DeadLetter letter : letters) {
            String number = Job.numberIn(String.valueOf(letter.payload()));
            long call = this.history.nextCall();
            this.history.write(Kind.REDRIVE, letter.id(), call, "number", number, "queue", Workload.TAKEN);
            String result = this.queue.deadLetters(Workload.TAKEN).redrive(letter.letterId()).name();
            this.history.write(Kind.REDRIVE_END, letter.id(), call, "result", result);
        }
    }

}
