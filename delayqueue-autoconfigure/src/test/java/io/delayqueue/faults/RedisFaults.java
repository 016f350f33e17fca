package io.delayqueue.faults;

import java.util.List;
import java.util.SplittableRandom;

import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;

/** What happens to Redis. */
final class RedisFaults {

    private RedisFaults() {
    }

    static Fault kill() {
        return new Fault("Redis killed", (run, random) -> {
            run.redis().kill();
            pause(random, 2000);
            run.redis().restart();
        });
    }

    static Fault forgetScripts() {
        return new Fault("SCRIPT FLUSH", (run, random) -> run.redis().commands().scriptFlush());
    }

    static Fault killClients(boolean subscriptions) {
        return new Fault(subscriptions ? "CLIENT KILL TYPE pubsub" : "CLIENT KILL TYPE normal",
                (run, random) -> run.redis()
                    .commands()
                    .clientKill(
                            subscriptions ? KillArgs.Builder.typePubsub() : KillArgs.Builder.typeNormal().skipme()));
    }

    /** Again and again: what is published meanwhile nobody hears. */
    static Fault cutSubscriptions() {
        return new Fault("subscriptions cut every 30 ms", (run, random) -> repeat(random, 2500, 30,
                () -> run.redis().commands().clientKill(KillArgs.Builder.typePubsub())));
    }

    /** Connections one by one, each as soon as its last command was a script. */
    static Fault killCallers() {
        return new Fault("CLIENT KILL ID of who runs scripts", (run, random) -> repeat(random, 2000, 100, () -> {
            String clients = run.redis().commands().clientList();
            clients.lines().filter((line) -> line.contains("cmd=evalsha")).forEach((line) -> {
                long id = Long.parseLong(line.substring("id=".length(), line.indexOf(' ')));
                run.redis().commands().clientKill(KillArgs.Builder.id(id));
            });
        }));
    }

    /** Blocked for most of the time, in short pieces. */
    static Fault slow() {
        return new Fault("Redis slow, 50 ms a command",
                (run, random) -> repeat(random, 2500, 5, () -> send(run, CommandType.DEBUG, "SLEEP", "0.05")));
    }

    /** A script of somebody else's that does not end. */
    static Fault busy() {
        return new Fault("BUSY", (run, random) -> {
            run.redis().commands().configSet("lua-time-limit", "100");
            RedisClient other = RedisClient.create(run.redis().uri());
            try {
                other.connect().async().eval("while true do end", ScriptOutputType.STATUS);
                pause(random, 2000);
                run.redis().commands().scriptKill();
            }
            finally {
                other.shutdown();
            }
        });
    }

    /** Takes long to load its data. */
    static Fault load() {
        return new Fault("LOADING", (run, random) -> {
            run.redis().commands().configSet("loading-process-events-interval-bytes", "1024");
            run.redis().commands().configSet("key-load-delay", Integer.toString(20_000 + random.nextInt(60_000)));
            send(run, CommandType.DEBUG, "RELOAD");
            run.redis().commands().configSet("key-load-delay", "0");
        });
    }

    static Fault pauseClients(String mode) {
        return new Fault("CLIENT PAUSE " + mode, (run, random) -> {
            int millis = 300 + random.nextInt(2000);
            send(run, CommandType.CLIENT, "PAUSE", Integer.toString(millis), mode);
            Thread.sleep(millis);
        });
    }

    /** Blocked by a command that takes long. */
    static Fault block() {
        return new Fault("Redis blocked", (run, random) -> send(run, CommandType.DEBUG, "SLEEP",
                Double.toString(0.3 + random.nextInt(20) / 10.0)));
    }

    static Fault suspend() {
        return new Fault("Redis suspended", (run, random) -> {
            run.redis().suspend();
            pause(random, 2500);
            run.redis().resume();
        });
    }

    static Fault full() {
        return setting("Redis full", "maxmemory", "1", "0");
    }

    static Fault fewReplicas() {
        return setting("too few replicas to write", "min-replicas-to-write", "1", "0");
    }

    /** A replica of nobody. */
    static Fault readOnly() {
        return new Fault("READONLY", (run, random) -> {
            run.redis().commands().replicaof("127.0.0.1", 1);
            pause(random, 2000);
            run.redis().commands().replicaofNoOne();
        });
    }

    static Fault tooManyClients() {
        return new Fault("too many clients", (run, random) -> {
            run.redis().commands().configSet("maxclients", "1");
            run.redis().commands().clientKill(KillArgs.Builder.typeNormal().skipme());
            pause(random, 2000);
            run.redis().commands().configSet("maxclients", "1000");
        });
    }

    static Fault forbid(String right) {
        return new Fault("ACL forbids " + right, (run, random) -> {
            send(run, CommandType.ACL, "SETUSER", "default", "-" + right);
            pause(random, 1500);
            send(run, CommandType.ACL, "SETUSER", "default", "+" + right);
        });
    }

    static List<Fault> all() {
        return List.of(kill(), forgetScripts(), killClients(false), killClients(true), pauseClients("ALL"),
                pauseClients("WRITE"), block(), suspend(), full(), fewReplicas(), readOnly(), tooManyClients(),
                forbid("evalsha"), forbid("zadd"), forbid("publish"), cutSubscriptions(), killCallers(), slow(), busy(),
                load());
    }

    static Fault any(SplittableRandom random) {
        List<Fault> all = all();
        return all.get(random.nextInt(all.size()));
    }

    private static Fault setting(String name, String setting, String broken, String well) {
        return new Fault(name, (run, random) -> {
            run.redis().commands().configSet(setting, broken);
            pause(random, 2000);
            run.redis().commands().configSet(setting, well);
        });
    }

    private static void repeat(SplittableRandom random, int most, int pauseMillis, Runnable body)
            throws InterruptedException {
        long end = System.nanoTime() + (300 + random.nextInt(most)) * 1_000_000L;
        while (System.nanoTime() < end) {
            body.run();
            Thread.sleep(pauseMillis);
        }
    }

    private static void pause(SplittableRandom random, int most) throws InterruptedException {
        Thread.sleep(300 + random.nextInt(most));
    }

    private static void send(FaultRun run, CommandType type, String... arguments) {
        RedisCommands<String, String> commands = run.redis().commands();
        CommandArgs<String, String> all = new CommandArgs<>(StringCodec.UTF8);
        for (String argument : arguments) {
            all.add(argument);
        }
        commands.dispatch(type, new StatusOutput<>(StringCodec.UTF8), all);
    }

}
