package io.delayqueue.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;

/**
 * A Redis user that has the rights which the documentation names and no others, read from
 * there so that the two cannot differ. With {@code -Ddq.redis.user=least} every server of
 * the fixtures has it, and applications and stores under test connect as it; the
 * fixtures' own commands stay those of the default user. Threads: safe.
 */
public final class RedisUser {

    /** Its name, where all tests run as it. */
    public static final String NAME = "least";

    /** As in the documentation. */
    public static final String PASSWORD = "password";

    private static final String PROPERTY = "dq.redis.user";

    private static final Path DOCUMENT = Path.of("..", "docs", "getting-started.md");

    private static final Pattern LINE = Pattern.compile("^(?:.*`)?ACL SETUSER shop ([^`]+?)`?[,;.]?$",
            Pattern.MULTILINE);

    private RedisUser() {
    }

    /** Whether what is under test connects as this user. */
    public static boolean isAsked() {
        return NAME.equals(System.getProperty(PROPERTY));
    }

    /** The user that what is under test connects as. */
    public static String underTest() {
        return isAsked() ? NAME : "default";
    }

    /** The user's rules, for one server and the namespace {@code shop}. */
    public static List<String> documented() {
        return lines().get(0);
    }

    /**
     * The rules that something needs besides.
     * @param rule a rule that is among them
     */
    public static List<String> documentedWith(String rule) {
        return lines().stream().skip(1).filter((line) -> line.contains(rule)).findFirst().orElseThrow();
    }

    private static List<List<String>> lines() {
        try {
            return LINE.matcher(Files.readString(DOCUMENT))
                .results()
                .map((MatchResult line) -> List.of(line.group(1).strip().split(" ")))
                .toList();
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** The documented rules for another namespace. */
    public static List<String> in(String namespace, List<String> rules) {
        return rules.stream().map((rule) -> rule.replace("shop:", namespace + ":")).toList();
    }

    /** Makes a user, or changes it. */
    public static void set(RedisServer server, String name, List<String> rules) {
        CommandArgs<String, String> arguments = new CommandArgs<>(StringCodec.UTF8).add("SETUSER").add(name);
        rules.forEach(arguments::add);
        server.commands().dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8), arguments);
    }

    /** A line of redis.conf that makes the user for all namespaces and uses. */
    static String inConfiguration() {
        return "user %s %s".formatted(NAME, String.join(" ", everywhere()));
    }

    /** Makes the user on a server that runs already. */
    static void allowOn(RedisServer server) {
        set(server, NAME, everywhere());
    }

    private static List<String> everywhere() {
        List<String> rules = new ArrayList<>();
        lines().forEach(rules::addAll);
        return in("*", rules);
    }

    /**
     * Settings of an application, with this user if it is asked for and none is named.
     */
    public static String[] asAsked(String... properties) {
        if (!isAsked() || Stream.of(properties).anyMatch((each) -> each.startsWith("spring.data.redis.username="))) {
            return properties;
        }
        return Stream
            .concat(Stream.of(properties),
                    Stream.of("spring.data.redis.username=" + NAME, "spring.data.redis.password=" + PASSWORD))
            .toArray(String[]::new);
    }

}
