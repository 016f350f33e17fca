package io.delayqueue.migrate.cli;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;

import picocli.CommandLine;

/** Starts the program. */
public final class Main {

    private Main() {
    }

    public static void main(String[] arguments) {
        System.exit(run(new PrintWriter(System.out, true, StandardCharsets.UTF_8),
                new PrintWriter(System.err, true, StandardCharsets.UTF_8), arguments));
    }

    /**
     * Runs a command, which prints to the given writers.
     * @return 0 if all is well, 1 if the command failed or found something to do, 2 if
     * the arguments are not valid
     */
    public static int run(PrintWriter out, PrintWriter err, String... arguments) {
        return commandLine().setOut(out).setErr(err).execute(arguments);
    }

    /** Returns the commands. */
    static CommandLine commandLine() {
        return new CommandLine(new MigrateCommand()).setCaseInsensitiveEnumValuesAllowed(true)
            .setExecutionExceptionHandler(new FailurePrinter())
            .setUnmatchedOptionsArePositionalParams(true);
    }

}
