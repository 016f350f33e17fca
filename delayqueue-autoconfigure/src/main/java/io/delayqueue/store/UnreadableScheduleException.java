package io.delayqueue.store;

import io.delayqueue.StoreRefusedException;
import org.jspecify.annotations.Nullable;

/**
 * Reports that a schedule was not changed or triggered because its stored state or
 * definition is not readable. A repeated call fails for the same reason until the
 * schedule is put again or removed.
 */
public final class UnreadableScheduleException extends StoreRefusedException {

    private static final long serialVersionUID = 1L;

    public UnreadableScheduleException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

}
