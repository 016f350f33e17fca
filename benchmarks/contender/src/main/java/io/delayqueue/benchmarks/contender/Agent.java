package io.delayqueue.benchmarks.contender;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

/**
 * Runs a contender: reads requests from standard input and answers each with one line on
 * standard output. Ends with standard input, and so with the runner. Output of contenders
 * goes to standard error.
 */
public final class Agent {

    private final Contender contender;

    private volatile Ledger ledger = Ledger.inMemory(0);

    private volatile long handlerNanos;

    private @Nullable Load load;

    private Agent(Contender contender) {
        this.contender = contender;
    }

    /** Runs until standard input ends, then ends the JVM. */
    public static void run(Contender contender) {
        PrintStream answers = System.out;
        System.setOut(System.err);
        Agent agent = new Agent(contender);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try {
            for (String line = requests.readLine(); line != null; line = requests.readLine()) {
                answers.println(agent.answer(line));
            }
        }
        catch (IOException ex) {
            ex.printStackTrace();
        }
        System.exit(0);
    }

    private String answer(String line) {
        try {
            return execute(Request.parse(line)).toString();
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            return "error interrupted";
        }
        catch (Exception | LinkageError ex) {
            ex.printStackTrace();
            return "error " + ex.toString().replace('\n', ' ');
        }
    }

    private Answer execute(Request request) throws InterruptedException {
        return switch (request.command()) {
            case "open" -> open(request);
            case "expect" -> expect(request);
            case "send" -> send(request);
            case "warm" -> load().warmUp(request);
            case "jit" -> new Answer().with("millis", compilationMillis());
            case "pace" -> new Answer().with("nanos", load().paced(request));
            case "bulk" -> new Answer().with("nanos", load().bulk(request));
            case "start" -> start();
            case "stop" -> stop();
            case "await" -> await(request);
            case "findings" -> this.ledger.findings();
            case "call" -> load().byNumber(request);
            case "close" -> close();
            default -> throw new IllegalArgumentException(request.command());
        };
    }

    private Answer open(Request request) {
        String prefix = request.text("queue", "work");
        int count = (int) request.number("queues", 1);
        List<String> queues = IntStream.range(0, count)
            .mapToObj((i) -> (count == 1) ? prefix : prefix + "-" + i)
            .toList();
        this.handlerNanos = Duration.ofMillis(request.number("handlerMillis", 0)).toNanos();
        this.contender.open(
                new Setup(request.count("port"), queues, (int) request.number("handlers", 16), request.values()),
                this::handle);
        this.load = new Load(this.contender, queues);
        return new Answer().with("pid", ProcessHandle.current().pid());
    }

    private Load load() {
        if (this.load == null) {
            throw new IllegalStateException("Not open");
        }
        return this.load;
    }

    private Answer expect(Request request) {
        String file = request.text("file", "");
        int messages = request.count("count");
        this.ledger = file.isEmpty() ? Ledger.inMemory(messages) : Ledger.inFile(messages, Path.of(file));
        return new Answer();
    }

    private Answer send(Request request) throws InterruptedException {
        long start = System.nanoTime();
        return new Answer().with("nanos", load().closed(request)).with("at", start);
    }

    private Answer start() {
        long start = System.nanoTime();
        this.contender.startHandlers();
        return new Answer().with("at", start);
    }

    private Answer stop() {
        this.contender.stopHandlers();
        return new Answer();
    }

    /** Waits until all is handled, and acknowledged. */
    private Answer await(Request request) throws InterruptedException {
        Ledger checked = this.ledger;
        boolean all = checked.await(request.number("millis"));
        long limit = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        boolean settled = all && this.contender.isSettled();
        while (all && !settled && System.nanoTime() < limit) {
            // Real time: contenders have no event for their last acknowledgement.
            LockSupport.parkNanos(500_000);
            settled = this.contender.isSettled();
        }
        long now = System.nanoTime();
        long wall = Wall.micros();
        return new Answer().with("handled", checked.handled())
            .with("firstAt", checked.span()[0])
            .with("lastAt", checked.span()[1])
            .with("settled", settled ? 1 : 0)
            .with("settledAt", now)
            .with("settledMicros", wall);
    }

    /** Returns for how long the JVM has compiled, in all of its threads. */
    private static long compilationMillis() {
        CompilationMXBean compilation = ManagementFactory.getCompilationMXBean();
        return (compilation != null && compilation.isCompilationTimeMonitoringSupported())
                ? compilation.getTotalCompilationTime() : 0;
    }

    private Answer close() {
        this.contender.close();
        return new Answer();
    }

    private void handle(Work work) {
        Ledger current = this.ledger;
        current.begun(work);
        if (this.handlerNanos > 0) {
            // Real time: the duration of the handler is a parameter of the measurement.
            LockSupport.parkNanos(this.handlerNanos);
        }
        current.completed(work);
    }

}
