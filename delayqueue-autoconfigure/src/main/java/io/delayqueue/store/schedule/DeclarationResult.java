package io.delayqueue.store.schedule;

import java.util.List;
import java.util.Map;

/**
 * Holds the result of {@link ScheduleStore#declare}.
 *
 * @param standings the standing of each declaration, by the name of its schedule
 * @param removed the names of schedules that were removed, as none has declared them for
 * an hour
 */
public record DeclarationResult(Map<String, Standing> standings, List<String> removed) {

    /** Lists the standings of a declaration. */
    public enum Standing {

        /** It applies. */
        WINS,

        /** Another definition that live nodes declare was first seen later. */
        OUTDATED,

        /** Another application declares the schedule. */
        FOREIGN

    }

}
