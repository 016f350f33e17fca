package io.delayqueue.migrate.cli;

import java.util.Map;

import io.delayqueue.migrate.engine.Migration;
import io.delayqueue.migrate.engine.Migration.QueueMoves;
import picocli.CommandLine.Command;

/** Moves the waiting messages of the source, and ends. */
@Command(name = "copy", description = "Moves the waiting messages of the source, and ends.")
final class CopyCommand extends MoveCommand {

    @Override
    boolean isEndless() {
        return false;
    }

    @Override
    Map<String, QueueMoves> move(Migration migration) {
        return migration.copy();
    }

}
