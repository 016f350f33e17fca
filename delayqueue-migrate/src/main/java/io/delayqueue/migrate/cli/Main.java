package io.delayqueue.migrate.cli;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;

import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

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

    /** Prints why arguments are not valid, which may contain passwords. */
    private static int invalid(ParameterException failure, String[] arguments) {
        CommandLine command = failure.getCommandLine();
        List<String> quoted = (failure instanceof UnmatchedArgumentException unmatched) ? unmatched.getUnmatched()
                : List.of(arguments);
        command.getErr().println(Redaction.of(String.valueOf(failure.getMessage()), quoted));
        if (!UnmatchedArgumentException.printSuggestions(failure, command.getErr())) {
            command.usage(command.getErr());
        }
        return command.getCommandSpec().exitCodeOnInvalidInput();
    }

    /** Returns the commands. */
    static CommandLine commandLine() {
        return new CommandLine(new MigrateCommand()).setCaseInsensitiveEnumValuesAllowed(true)
            .setExecutionExceptionHandler(new FailurePrinter())
            .setParameterExceptionHandler(Main::invalid)
            .setUnmatchedOptionsArePositionalParams(true);
    }

}
