package io.delayqueue.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import io.delayqueue.DeadLetter;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.QueueStatistics;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.admin.DelayQueueIntegrityChecker;
import io.delayqueue.admin.IntegrityReport;
import io.delayqueue.faults.Event.Kind;
import io.delayqueue.testing.RedisServer;
import io.delayqueue.testing.TcpProxy;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/**
 * One run: a Redis server, nodes that reach it through a proxy each, and a history.
 * Threads: confined to one.
 */
final class FaultRun implements AutoCloseable {

    static final int MAX_ATTEMPTS = 3;

    /** So many that no fault kills a message that does not deserve it. */
    static final int MAX_LAPSES = 50;

    private static final String MAX_LAPSES_SETTING = "delayqueue.listener.max-lapses=";

    static final Duration LEASE = Duration.ofSeconds(2);

    static final Duration SAFETY_POLL = Duration.ofSeconds(1);

    private static final Duration LONGEST_DRAIN = Duration.ofMinutes(3);

    private static final int TRIES = 50;

    private final RedisServer redis;

    private final long seed;

    private final Path directory;

    private final HistoryFile history;

    private final List<Seat> seats = new ArrayList<>();

    private final List<String> settings;

    private final int maxLapses;

    private int spared;

    FaultRun(String name, long seed, RedisServer redis, int nodes, String... settings) {
        this.redis = redis;
        this.seed = seed;
        this.settings = List.of(settings);
        this.maxLapses = this.settings.stream()
            .filter((setting) -> setting.startsWith(MAX_LAPSES_SETTING))
            .mapToInt((setting) -> Integer.parseInt(setting.substring(MAX_LAPSES_SETTING.length())))
            .findFirst()
            .orElse(MAX_LAPSES);
        try {
            Path runs = Files.createDirectories(Path.of("target", "faults").toAbsolutePath());
            this.directory = Files.createTempDirectory(runs, name + "-" + seed + "-");
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        this.history = new HistoryFile(this.directory.resolve("run.history"), "run", 0);
        for (int i = 0; i < nodes; i++) {
            this.seats.add(new Seat("n" + i, TcpProxy.to(redis)));
        }
    }

    /** Starts all nodes and has them send. */
    void start() throws InterruptedException {
        this.seats.forEach(Seat::start);
        for (Seat seat : this.seats) {
            seat.awaitReady();
        }
        send(true);
    }

    void send(boolean on) {
        this.seats.forEach((seat) -> seat.send(on));
    }

    RedisServer redis() {
        return this.redis;
    }

    Seat seat(SplittableRandom random) {
        return this.seats.get(random.nextInt(this.seats.size()));
    }

    /** Has nobody kill the first nodes. */
    void spare(int count) {
        this.spared = count;
    }

    /** A seat whose node may be killed. */
    Seat mortal(SplittableRandom random) {
        return this.seats.get(random.nextInt(this.spared, this.seats.size()));
    }

    List<Seat> seats() {
        return this.seats;
    }

    Path directory() {
        return this.directory;
    }

    /** Notes that a phase begins. */
    void phase(String name) {
        this.history.write(Kind.PHASE, "", 0, "name", name);
    }

    /** Notes that a fault is now in this state. */
    void note(String fault, String state) {
        this.history.write(Kind.FAULT, "", 0, "text", fault, "state", state);
    }

    /**
     * Mends everything, waits until all is handled, stops the nodes in good order, and
     * judges.
     */
    Verdict end(String suite, String fault) throws InterruptedException {
        phase("end");
        for (Seat seat : this.seats) {
            seat.proxy().pass();
            if (!seat.node().isAlive()) {
                seat.restart();
            }
        }
        for (Seat seat : this.seats) {
            seat.awaitReady();
        }
        send(false);
        drain();
        for (Seat seat : this.seats) {
            seat.stop();
        }
        this.redis.commands().keys("faults:*").stream().filter(FaultRun::isOfAMessage).forEach((key) -> {
            this.history.write(Kind.LEFT, "", 0, "promise", "P10", "text", "key " + key);
        });
        History all = History.read(this.directory);
        Verdict verdict = Judge.judge(all, MAX_ATTEMPTS, this.maxLapses);
        Results.add(suite, fault, this.seed, all, verdict);
        return verdict;
    }

    /** Waits until all is handled or dead, and takes the dead letters down and away. */
    void drain() throws InterruptedException {
        try (ConfigurableApplicationContext context = sender()) {
            DelayQueueOperations queue = context.getBean(DelayQueueOperations.class);
            DelayQueueIntegrityChecker doctor = context.getBean(DelayQueueIntegrityChecker.class);
            examine(doctor, "before all was handled");
            for (String name : Workload.QUEUES) {
                awaitEmpty(queue, name);
                buryLetters(queue, name);
            }
            examine(doctor, "after all was handled");
        }
    }

    /** Notes what a doctor finds while the nodes go on. */
    private void examine(DelayQueueIntegrityChecker doctor, String when) throws InterruptedException {
        List<IntegrityReport> examinations = new ArrayList<>();
        for (int i = 0; i < TRIES && examinations.isEmpty(); i++) {
            try {
                for (String name : Workload.QUEUES) {
                    examinations.add(doctor.examine(name));
                }
                examinations.add(doctor.examineKeys());
            }
            catch (StoreUnavailableException ex) {
                note("cannot examine: " + ex.getMessage(), "trouble");
                examinations.clear();
                Thread.sleep(200);
            }
        }
        if (examinations.isEmpty()) {
            this.history.write(Kind.LEFT, "", 0, "promise", "doctor", "text", "not to be examined " + when);
        }
        long examined = examinations.stream().mapToLong(IntegrityReport::examined).sum();
        this.history.write(Kind.SAMPLE, "", 0, "examined", Long.toString(examined), "when", when);
        examinations.stream().filter((examination) -> !examination.isSound()).forEach((examination) -> {
            this.history.write(Kind.LEFT, "", 0, "promise", "doctor", "text",
                    "found " + when + ": " + examination.findings());
        });
    }

    /** Notes what Redis uses, and has all nodes note what they use. */
    void sample() {
        this.seats.forEach((seat) -> seat.node().tell("sample"));
        String memory = this.redis.commands()
            .info("memory")
            .lines()
            .filter((line) -> line.startsWith("used_memory:"))
            .findFirst()
            .orElseThrow();
        this.history.write(Kind.SAMPLE, "", 0, "memory", memory.substring("used_memory:".length()), "keys",
                Long.toString(this.redis.commands().dbsize()), "clients",
                Long.toString(this.redis.commands().clientList().lines().count()));
    }

    private static boolean isOfAMessage(String key) {
        return !key.endsWith(":keeper") && !key.endsWith(":partitions") && !key.contains(":{_directory}:");
    }

    private ConfigurableApplicationContext sender() {
        List<String> arguments = new ArrayList<>();
        nodeProperties(this.redis.port()).forEach((property) -> arguments.add("--" + property));
        return new SpringApplicationBuilder(Sender.class).web(WebApplicationType.NONE)
            .registerShutdownHook(false)
            .properties("spring.main.banner-mode=off", "spring.main.log-startup-info=false",
                    "spring.data.redis.host=127.0.0.1")
            .run(arguments.toArray(String[]::new));
    }

    private void awaitEmpty(DelayQueueOperations queue, String name) throws InterruptedException {
        long deadline = System.nanoTime() + LONGEST_DRAIN.toNanos();
        QueueStatistics statistics = null;
        while (System.nanoTime() < deadline) {
            try {
                statistics = queue.statistics(name);
                if (statistics.scheduled() == 0 && statistics.leased() == 0) {
                    return;
                }
            }
            catch (StoreUnavailableException ex) {
                note("cannot look: " + ex.getMessage(), "trouble");
            }
            Thread.sleep(50);
        }
        this.history.write(Kind.LEFT, "", 0, "promise", "P3", "text",
                "not handled within " + LONGEST_DRAIN + ": " + statistics);
    }

    private void buryLetters(DelayQueueOperations queue, String name) {
        String cursor = null;
        do {
            var page = queue.deadLetters(name).list(cursor, 100);
            for (DeadLetter letter : page.letters()) {
                this.history.write(Kind.LETTER, letter.id(), 0, "number",
                        Job.numberIn(String.valueOf(letter.payload())), "failures", Integer.toString(letter.failures()),
                        "lapses", Integer.toString(letter.lapses()), "died",
                        Long.toString(Event.micros(letter.diedAt())), "cause", letter.reason());
            }
            cursor = page.nextCursor();
        }
        while (cursor != null);
        queue.deadLetters(name).purgeAll();
    }

    private List<String> nodeProperties(int port) {
        List<String> properties = new ArrayList<>(List.of("spring.data.redis.port=" + port,
                "delayqueue.namespace=faults", "delayqueue.listener.lease=" + LEASE.toMillis() + "ms",
                "delayqueue.safety-poll=" + SAFETY_POLL.toMillis() + "ms", "delayqueue.command-timeout=1s",
                "delayqueue.listener.max-attempts=" + MAX_ATTEMPTS, MAX_LAPSES_SETTING + MAX_LAPSES,
                "delayqueue.listener.backoff.initial=50ms", "delayqueue.listener.expired=dead-letter",
                "delayqueue.listener.shutdown-timeout=5s", "delayqueue.queues." + Workload.SPREAD + ".partitions=4"));
        // Spring would join the values of a property that is there twice.
        for (String setting : this.settings) {
            String name = setting.substring(0, setting.indexOf('=') + 1);
            properties.removeIf((property) -> property.startsWith(name));
            properties.add(setting);
        }
        return properties;
    }

    @Override
    public void close() {
        this.seats.forEach(Seat::close);
        this.history.close();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Sender {

    }

    /** The place of a node, which one process after the other takes. */
    final class Seat implements AutoCloseable {

        private final String name;

        private final TcpProxy proxy;

        private final List<NodeProcess> processes = new ArrayList<>();

        private boolean sending;

        private int ahead;

        private String classPath = System.getProperty("java.class.path");

        Seat(String name, TcpProxy proxy) {
            this.name = name;
            this.proxy = proxy;
        }

        NodeProcess node() {
            return this.processes.get(this.processes.size() - 1);
        }

        TcpProxy proxy() {
            return this.proxy;
        }

        String name() {
            return this.name;
        }

        void start() {
            List<String> properties = new ArrayList<>(nodeProperties(this.proxy.port()));
            String node = this.name + "." + this.processes.size();
            properties.add("test.seed=" + (FaultRun.this.seed * 31 + node.hashCode()));
            properties.add("test.ahead-micros=" + TimeUnit.SECONDS.toMicros(this.ahead));
            List<String> wrapper = (this.ahead != 0) ? List.of("faketime", "-f", "%+ds".formatted(this.ahead))
                    : List.of();
            this.processes.add(NodeProcess.start(node, FaultRun.this.directory, wrapper, this.classPath, properties));
        }

        /** Has the clocks of processes that start from now on be ahead, or behind. */
        void setAhead(int seconds) {
            this.ahead = seconds;
        }

        /** Has processes that start from now on be of another version of the library. */
        void setClassPath(String classPath) {
            this.classPath = classPath;
        }

        /** Kills the process, if it still runs, and notes that it dies. */
        void kill() {
            if (node().isAlive()) {
                FaultRun.this.history.write(Kind.FAULT, "", 0, "text", "node killed", "state", "dies", "node",
                        node().name());
            }
            node().close();
        }

        /** Stops the process in good order. */
        void stop() throws InterruptedException {
            int exit = node().stop();
            if (exit != 0) {
                FaultRun.this.history.write(Kind.LEFT, "", 0, "promise", "P12", "text",
                        node().name() + " ended with " + exit);
            }
        }

        /** Another process, which sends if the last did. */
        void restart() {
            kill();
            start();
            node().tell(this.sending ? "send on" : "send off");
        }

        /**
         * Waits until the process is ready. One that gives up at its start, as while a
         * right is missing, is started again, as whatever runs applications does.
         */
        void awaitReady() throws InterruptedException {
            for (int i = 0; !node().awaitReady(); i++) {
                if (i == TRIES) {
                    throw new IllegalStateException("%s does not start, see %s".formatted(node().name(), directory()));
                }
                restart();
            }
        }

        void send(boolean on) {
            this.sending = on;
            node().tell(on ? "send on" : "send off");
        }

        @Override
        public void close() {
            this.processes.forEach(NodeProcess::close);
            this.proxy.close();
        }

    }

}
