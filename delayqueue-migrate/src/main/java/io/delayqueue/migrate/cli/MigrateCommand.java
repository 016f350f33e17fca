package io.delayqueue.migrate.cli;

import java.util.List;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Prints the help, as each step is a command of its own. */
@Command(name = "delayqueue-migrate", mixinStandardHelpOptions = true, versionProvider = VersionProvider.class,
        description = "Moves waiting messages from other libraries to DelayQueue, while both run.",
        subcommands = { PlanCommand.class, CopyCommand.class, FollowCommand.class, VerifyCommand.class,
                FinishCommand.class },
        footer = { "", "Each step can be killed and repeated. Exit codes: 0 done, 1 failed or something is left to do, "
                + "2 arguments that are not valid." })
final class MigrateCommand implements Runnable {

    static final List<String> STEPS = List.of("plan", "copy", "follow", "verify", "finish");

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(this.spec.commandLine(), "A command is needed: " + String.join(", ", STEPS));
    }

}
