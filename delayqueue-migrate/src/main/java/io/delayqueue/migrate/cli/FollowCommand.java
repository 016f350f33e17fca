package io.delayqueue.migrate.cli;

import java.time.Duration;
import java.util.Map;

import io.delayqueue.migrate.engine.Migration;
import io.delayqueue.migrate.engine.Migration.QueueMoves;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;

import org.springframework.boot.convert.DurationStyle;

/** Moves the waiting messages, and those that old producers still add. */
@Command(name = "follow", description = "Moves waiting messages, and new ones from old producers, until it is "
        + "stopped by Ctrl-C or SIGTERM.")
final class FollowCommand extends MoveCommand {

    @Option(names = "--poll", paramLabel = "TIME", defaultValue = "500ms", converter = TimeConverter.class,
            description = "how often to check for new entries. Default: ${DEFAULT-VALUE}")
    private Duration poll = Duration.ZERO;

    @Option(names = "--until-idle", paramLabel = "TIME", defaultValue = "0s", converter = TimeConverter.class,
            description = "end when no entry was found for this time, such as 10m; never by default")
    private Duration untilIdle = Duration.ZERO;

    @Override
    void check() {
        super.check();
        if (this.poll.isNegative() || this.poll.isZero()) {
            throw new IllegalArgumentException(
                    "--poll=%d ms is not valid: use more than zero".formatted(this.poll.toMillis()));
        }
    }

    /** A stop is the usual end. */
    @Override
    boolean isStoppedEarly() {
        return false;
    }

    @Override
    boolean isEndless() {
        return true;
    }

    @Override
    Map<String, QueueMoves> move(Migration migration) {
        return migration.follow(this.poll, this.untilIdle);
    }

    /** Reads a duration in the form of Spring Boot, such as {@code 500ms}. */
    static final class TimeConverter implements ITypeConverter<Duration> {

        @Override
        public Duration convert(String value) {
            return DurationStyle.detectAndParse(value);
        }

    }

}
