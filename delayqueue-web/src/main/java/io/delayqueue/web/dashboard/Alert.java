package io.delayqueue.web.dashboard;

import java.util.Locale;

import io.delayqueue.web.http.ApiViews;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Describes a problem, in words for operators.
 *
 * @param severity how bad it is
 * @param title what it is
 * @param queue the queue; {@code null} if it does not concern a single one
 * @param detail the symptoms
 * @param action what to do
 */
record Alert(Severity severity, String title, @Nullable String queue, String detail, String action) {

    ObjectNode toJson() {
        return ApiViews.object()
            .put("severity", this.severity.name().toLowerCase(Locale.ROOT))
            .put("title", this.title)
            .put("queue", this.queue)
            .put("detail", this.detail)
            .put("action", this.action);
    }

    /** Lists the severities, the worst first. */
    enum Severity {

        /** Messages are not handled, or may be lost. */
        ERROR,

        /** An operator should investigate. */
        WARNING,

        /** Not a problem by itself. */
        INFO

    }

}
