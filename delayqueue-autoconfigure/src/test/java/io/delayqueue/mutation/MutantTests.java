package io.delayqueue.mutation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.platform.engine.CancellationToken;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherExecutionRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs tests on a mutant until one fails: the store's contract, walks, and what only
 * Redis shows, on one Redis. What killed most mutants of a script comes first. A script
 * that does not end counts as noticed: its server is killed, and with it the test.
 */
@Tag("server")
final class MutantTests implements AutoCloseable {

    private static final Duration LIMIT = Duration.ofSeconds(Integer.getInteger("dq.mutants.limit", 90));

    /** A failure that took so long may be one of a script that runs still. */
    private static final Duration STUCK = LIMIT.dividedBy(10);

    private static final String CONTRACT = "io.delayqueue.redis.Redis70StoreTests";

    private static final String TRIALS = "trials";

    private static final List<String> PARTS = List.of("SendKeep", "SendReplace", "Cancel", "Reschedule", "ClaimDue",
            "Acknowledge", "Retry", "Release", "Extend", "Start", "Die", "Redrive", "Purge", "Find", "Rounding",
            "Lanes", "Groups", "GroupMembers", "Expiry", "Batches", "Spread", "WakeUp", "Keeper", "Pausing", "Overview",
            "Directory", "Lists");

    /** What to begin with, for one kind of mutants. */
    private static final Map<String, List<String>> LIKELY = Map.ofEntries(
            Map.entry(TRIALS, List.of("ForbiddenCommandTests", "FullRedis")),
            Map.entry("acknowledge.lua", List.of("Acknowledge")), Map.entry("cancel.lua", List.of("Cancel")),
            Map.entry("claim.lua", List.of("ClaimDue", "Expiry", "Keeper")),
            Map.entry("dead-letter.lua", List.of("Die")), Map.entry("extend.lua", List.of("Extend")),
            Map.entry("find.lua", List.of("Find")), Map.entry("horizon.lua", List.of("Overview")),
            Map.entry("messages.lua", List.of("Lists")), Map.entry("nodes.lua", List.of("Directory")),
            Map.entry("queues.lua", List.of("Directory")), Map.entry("prelude.lua", List.of("Groups", "GroupMembers")),
            Map.entry("purge.lua", List.of("Purge")), Map.entry("redrive.lua", List.of("Redrive")),
            Map.entry("release.lua", List.of("Release")), Map.entry("reschedule.lua", List.of("Reschedule")),
            Map.entry("resign.lua", List.of("Keeper")), Map.entry("retry.lua", List.of("Retry")),
            Map.entry("schedule.lua", List.of("SendKeep", "SendReplace", "GroupMembers")),
            Map.entry("send.lua", List.of("SendKeep", "Batches")), Map.entry("start.lua", List.of("Start")));

    private final Path classes;

    private final Path testClasses;

    private final Path scripts;

    private final Launcher launcher = LauncherFactory.create(LauncherConfig.builder()
        .enableTestExecutionListenerAutoRegistration(false)
        .enableLauncherSessionListenerAutoRegistration(false)
        .build());

    private final ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor((task) -> {
        Thread thread = new Thread(task, "mutant-watch");
        thread.setDaemon(true);
        return thread;
    });

    /**
     * How often a unit failed for mutants of a script, or for trials that were left out.
     */
    private final Map<String, Integer> kills = new HashMap<>();

    /** How long a unit took when it last noticed nothing. */
    private final Map<String, Long> nanos = new HashMap<>();

    private MutantLoader fixtures;

    /**
     * Prepares runs.
     * @param target where the build puts classes
     * @param work for mutants
     * @param scripts what each mutant takes the place of
     */
    MutantTests(Path target, Path work, Path scripts) {
        this.classes = target.resolve("classes");
        this.testClasses = target.resolve("test-classes");
        this.scripts = work.resolve("io/delayqueue/redis");
        this.fixtures = fixtures();
        LIKELY.forEach((kind, names) -> names.forEach((name) -> this.kills.put(kind + " " + name, 1)));
        try {
            Files.createDirectories(this.scripts);
            try (Stream<Path> files = Files.list(scripts)) {
                for (Path script : files.toList()) {
                    Files.writeString(this.scripts.resolve(script.getFileName()), Files.readString(script));
                }
            }
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private MutantLoader fixtures() {
        return new MutantLoader(MutantTests.class.getClassLoader(), MutantTests::isFixture, this.testClasses);
    }

    private static boolean isFixture(String name) {
        return name.startsWith("io.delayqueue.testing.");
    }

    /**
     * Runs the tests on a script with one thing wrong.
     * @param original the text of that script
     * @return what failed first; empty if nothing did
     */
    String run(Mutant mutant, String original) {
        write(mutant.file(), mutant.text());
        String kind = mutant.isTrial() ? TRIALS : mutant.file();
        Path root = this.scripts.getParent().getParent().getParent();
        Thread current = Thread.currentThread();
        ClassLoader before = current.getContextClassLoader();
        try (MutantLoader loader = new MutantLoader(this.fixtures, (name) -> !isFixture(name), root, this.classes,
                this.testClasses)) {
            current.setContextClassLoader(loader);
            List<Unit> units = new ArrayList<>(unitsOf(mutant.file()));
            units.sort(Comparator.<Unit>comparingInt((unit) -> -this.kills.getOrDefault(kind + " " + unit.name(), 0))
                .thenComparingLong((unit) -> this.nanos.getOrDefault(unit.name(), 0L)));
            for (Unit unit : units) {
                String failure = run(unit, loader);
                if (!failure.isEmpty()) {
                    this.kills.merge(kind + " " + unit.name(), 1, Integer::sum);
                    return failure;
                }
            }
            return "";
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        finally {
            current.setContextClassLoader(before);
            write(mutant.file(), original);
        }
    }

    private void write(String file, String text) {
        try {
            Files.writeString(this.scripts.resolve(file), text);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** The probe concerns no message, and what only looks changes none. */
    private static List<Unit> unitsOf(String file) {
        if (file.equals("probe.lua")) {
            return List.of(new Unit("RedisServerCheckTests", "io.delayqueue.redis.check.RedisServerCheckTests", "", 0),
                    new Unit("UnsuitableRedis", "io.delayqueue.integration.UnsuitableRedisIntegrationTests", "", 0),
                    new Unit("OtherEngines", "io.delayqueue.integration.OtherEnginesIntegrationTests", "", 0));
        }
        if (file.equals("examine.lua") || file.equals("survey.lua")) {
            return List.of(new Unit("RedisDoctorTests", "io.delayqueue.redis.check.RedisIntegrityCheckerTests", "", 0));
        }
        List<Unit> units = new ArrayList<>();
        units.add(new Unit("RedisRandomTransitionsTests", "io.delayqueue.redis.RedisRandomTransitionsTests",
                "redisAnswersAsTheModelDoes", 2));
        PARTS.forEach((part) -> units.add(new Unit(part, CONTRACT, part, 0)));
        for (String name : List.of("RedisKeysTests", "RedisWakeMarkTests", "RedisKeeperTests",
                "RedisForeignScoresTests", "RedisGroupsTests", "ForbiddenCommandTests")) {
            units.add(new Unit(name, "io.delayqueue.redis." + name, "", 0));
        }
        units.add(new Unit("FullRedis", "io.delayqueue.integration.FullRedisIntegrationTests",
                "whatIsSentIsRefusedAndEveryOtherTransitionWorks", 2));
        return units;
    }

    private String run(Unit unit, MutantLoader loader) {
        AtomicReference<String> failure = new AtomicReference<>("");
        CancellationToken token = CancellationToken.create();
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
            .selectors(unit.selector(loader))
            .configurationParameter("junit.jupiter.execution.timeout.mode", "disabled")
            .build();
        long start = System.nanoTime();
        ScheduledFuture<?> alarm = this.watch.schedule(() -> {
            failure.compareAndSet("", unit.name() + ": no end");
            killServers();
        }, LIMIT.toSeconds(), TimeUnit.SECONDS);
        this.launcher.execute(LauncherExecutionRequestBuilder.request(request)
            .cancellationToken(token)
            .listeners(new TestExecutionListener() {

                @Override
                public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                    if (result.getStatus() == TestExecutionResult.Status.FAILED) {
                        failure.compareAndSet("", "%s: %s: %s".formatted(unit.name(), test.getDisplayName(),
                                result.getThrowable().map(MutantTests::causeOf).orElse("")));
                        token.cancel();
                    }
                }

            })
            .build());
        alarm.cancel(false);
        if (failure.get().isEmpty()) {
            this.nanos.put(unit.name(), System.nanoTime() - start);
        }
        if (!failure.get().isEmpty() && System.nanoTime() - start > STUCK.toNanos()) {
            killServers();
            this.fixtures = fixtures();
        }
        return failure.get();
    }

    private static String causeOf(Throwable thrown) {
        Throwable cause = thrown.getCause();
        return (cause != null) ? causeOf(cause) : thrown.getClass().getSimpleName();
    }

    /** Those that this JVM started. */
    private static void killServers() {
        ProcessHandle.current()
            .descendants()
            .filter((process) -> process.info().command().orElse("").contains("redis-server"))
            .forEach(ProcessHandle::destroyForcibly);
    }

    @Override
    public void close() {
        this.watch.shutdownNow();
    }

    /**
     * Tests that run together.
     *
     * @param name for people
     * @param type the class
     * @param member a nested class, or a method with parameters, of which one is taken;
     * empty for the whole class
     * @param iteration which one of those, from 1; 0 for a nested class
     */
    private record Unit(String name, String type, String member, int iteration) {

        DiscoverySelector selector(MutantLoader loader) {
            if (this.member.isEmpty()) {
                return DiscoverySelectors.selectClass(loader.load(this.type).get(0));
            }
            if (this.iteration == 0) {
                List<Class<?>> both = loader.load(this.type, "io.delayqueue.store.MessageStoreContract$" + this.member);
                return DiscoverySelectors.selectNestedClass(both.subList(0, 1), both.get(1));
            }
            return DiscoverySelectors.selectIteration(DiscoverySelectors.selectMethod(loader.load(this.type).get(0),
                    this.member, "io.delayqueue.testing.RedisBinary"), this.iteration - 1);
        }

    }

}
