package io.delayqueue.web.dashboard;

import java.util.Locale;

import io.delayqueue.web.http.JsonViews;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Something that is wrong, in words.
 *
 * @param severity how bad it is
 * @param title what it is
 * @param queue the queue; {@code null} if it is not one queue's
 * @param detail how it shows
 * @param action what to do
 */
record Alert(Severity severity, String title, @Nullable String queue, String detail, String action) {

    ObjectNode toJson() {
        return JsonViews.object()
            .put("severity", this.severity.name().toLowerCase(Locale.ROOT))
            .put("title", this.title)
            .put("queue", this.queue)
            .put("detail", this.detail)
            .put("action", this.action);
    }

    /** How bad it is, the worst first. */
    enum Severity {

        /** Messages are not handled, or may be lost. */
        ERROR,

        /** Somebody should look. */
        WARNING,

        /** Not wrong by itself. */
        INFO

    }

}
