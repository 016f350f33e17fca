package io.delayqueue.migrate;

/**
 * Reports that another process of this program works on a queue, or did until a moment
 * ago.
 */
public class SourceInUseException extends SourceException {

    private static final long serialVersionUID = 1L;

    public SourceInUseException(String queue) {
        super("Another process of delayqueue-migrate works on queue '%s'. Stop it, and start this one again"
            .formatted(queue), null);
    }

}
