package io.delayqueue.migrate.cli;

import io.delayqueue.DelayQueueException;
import io.delayqueue.migrate.SourceException;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.ParseResult;

import org.springframework.core.NestedExceptionUtils;

/**
 * Prints the reason of a failure in one line, without a stack trace. Other messages than
 * those of this program and of DelayQueue may quote an address with a password, so only
 * the class of their exceptions is printed.
 */
final class FailurePrinter implements IExecutionExceptionHandler {

    @Override
    public int handleExecutionException(Exception failure, CommandLine command, ParseResult arguments) {
        boolean invalid = failure instanceof IllegalArgumentException;
        boolean known = invalid || failure instanceof SourceException || failure instanceof DelayQueueException;
        Throwable cause = NestedExceptionUtils.getMostSpecificCause(failure);
        command.getErr().println(known ? failure.getMessage() : "The command failed: " + Redaction.of(cause));
        if (Boolean.getBoolean("delayqueue.migrate.debug")) {
            failure.printStackTrace(command.getErr());
        }
        return invalid ? CommandLine.ExitCode.USAGE : CommandLine.ExitCode.SOFTWARE;
    }

}
