package io.delayqueue.migrate.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.delayqueue.fixtures.application.DocumentationBlocks;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

import static org.assertj.core.api.Assertions.assertThat;

/** Rejects arguments that are not valid, and prints no credentials. */
class MigrateCommandTests {

    /** An argument of a shell, which may be quoted in part. */
    private static final Pattern ARGUMENT = Pattern.compile("(?:[^\\s']|'[^']*')+");

    private final StringWriter output = new StringWriter();

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = { "|A command is needed: plan, copy, follow, verify, finish",
            "plan|Missing required option: '--source=NAME'",
            "plan --source=kafka|--source=kafka is not valid: use redisson",
            "plan --source=redisson --source-url=http://localhost|--source-url is not a URL of Redis",
            "plan --source=redisson --source-url=redis://localhost:1 --queue=a*b*|--queue='a*b*' is not valid",
            "copy --source=redisson --source-option=ready=true|--source-option=ready=... is not valid: source redisson has no options",
            "copy --source=select --source-option=Update=x|source select has the options [queue, select, update]",
            "copy --source=rqueue --source-option=ready=yes|--source-option=ready=yes is not valid: use true or false",
            "copy --source=redisson --spring.data.redis.database=3|--spring.data.redis.username, password and database have no effect on a URL",
            "copy --source=redisson --target-url=redis://h --spring.data.redis.host=i|both name a Redis",
            "copy --source=redisson --namespace=a --delayqueue.namespace=b|--namespace and --delayqueue.namespace are both given",
            "copy --source=redisson --batch=many|Invalid value for option '--batch'",
            "copy --source=redisson --nonsense=1|Argument '--nonsense' is not known",
            "follow --source=redisson --poll=0s|--poll=0 ms is not valid",
            "follow --source=redisson --poll=soon|Invalid value for option '--poll'" })
    void namesTheValueAndTheRule(String arguments, String message) {
        assertThat(run((arguments != null) ? arguments.split(" ") : new String[0])).isEqualTo(2);
        assertThat(this.output.toString()).contains(message);
    }

    @Test
    void printsNoPassword() {
        assertThat(run("plan", "--source=redisson", "--source-url=redis://user:secret@127.0.0.1:1/0")).isEqualTo(1);
        assertThat(this.output.toString()).contains("Cannot connect to the Redis of the source at 127.0.0.1:1")
            .doesNotContain("secret");
        assertThat(run("plan", "--source=redisson", "--source-url=nonsense://user:secret@host")).isEqualTo(2);
        assertThat(run("plan", "--source=redisson", "--target-url=redis://:secret@host:6379")).isEqualTo(2);
        assertThat(run("copy", "--source=redisson", "redis://:secret@host:6379")).isEqualTo(2);
        assertThat(this.output.toString()).contains("'--target-url'", "'redis://***@host:6379'")
            .doesNotContain("secret");
    }

    @ParameterizedTest
    @ValueSource(strings = { "a&secret", "a;secret", "a,secret", "a/secret", "a@secret", "a=secret", "a secret" })
    void printsNoPartOfAPasswordInAnArgumentThatIsRejected(String password) {
        assertThat(run("plan", "--source=redisson", "--spring.data.redis.password=" + password)).isEqualTo(2);
        assertThat(run("plan", "--source=redisson", "--spring.data.redis.password", password)).isEqualTo(2);
        assertThat(run("finish", "--source=redisson", "--target-url=redis://:" + password + "@host")).isEqualTo(2);
        assertThat(run("copy", "--source=redisson", "redis://:" + password + "@host")).isEqualTo(2);
        assertThat(run("copy", "--source=redisson", "spring.data.redis.password=" + password)).isEqualTo(2);

        assertThat(this.output.toString())
            .contains("'--spring.data.redis.password'", "'--target-url'", "'redis://***@host'",
                    "'spring.data.redis.password'")
            .doesNotContain("secret");
    }

    @Test
    void credentialsAreRemovedFromTextsOfOthers() {
        assertThat(Redaction.of("at jdbc:postgresql://me:secret@db/x?user=me&password=secret;pwd=secret, no"))
            .isEqualTo("at jdbc:postgresql://***@db/x?user=***&password=***;pwd=***, no");
        assertThat(Redaction.of("at redis://me:se/cr@et@db, no")).isEqualTo("at redis://***@db, no");
        assertThat(Redaction.of("at jdbc:x://db/y?password=s@cret")).isEqualTo("at jdbc:x://db/y?password=***");
    }

    @Test
    void explainsEachStep() {
        for (String step : MigrateCommand.STEPS) {
            assertThat(run(step, "--help")).isZero();
        }
        assertThat(this.output.toString()).contains("--until-idle", "--discard-unreadable", "--dry-run");
    }

    @Test
    void commandsOfTheDocumentationAreValid() {
        List<String> commands = DocumentationBlocks.in("shell")
            .stream()
            .flatMap((block) -> block.code().replace("\\\n", " ").lines())
            .filter((line) -> line.contains("delayqueue-migrate.jar "))
            .map((line) -> line.replaceFirst(".*delayqueue-migrate.jar ", "").replaceFirst(" \\.\\.\\.$", ""))
            .toList();
        assertThat(commands).hasSizeGreaterThan(8).allSatisfy((command) -> {
            List<String> arguments = ARGUMENT.matcher(command)
                .results()
                .map((argument) -> argument.group().replace("'", ""))
                .toList();
            List<CommandLine> parsed = Main.commandLine()
                .parseArgs((command.contains("--source=") ? arguments : withSource(arguments)).toArray(String[]::new))
                .asCommandLineList();
            assertThat(parsed).hasSize(2);
            assertThat(parsed.get(1).getParseResult().matchedPositionals()).isEmpty();
        });
    }

    /** The commands of a paragraph leave out what is as before. */
    private static List<String> withSource(List<String> arguments) {
        return Stream.concat(arguments.stream(), Stream.of("--source=redisson")).toList();
    }

    private int run(String... arguments) {
        PrintWriter writer = new PrintWriter(this.output, true);
        return Main.run(writer, writer, arguments);
    }

}
