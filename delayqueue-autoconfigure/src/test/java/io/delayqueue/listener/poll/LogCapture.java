package io.delayqueue.listener.poll;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import org.slf4j.LoggerFactory;

/** Captures the log of the package while a test runs. */
public final class LogCapture extends AppenderBase<ILoggingEvent> implements AutoCloseable {

    private final Logger logger = (Logger) LoggerFactory.getLogger("io.delayqueue.listener");

    private final Level before = this.logger.getLevel();

    private final boolean additive = this.logger.isAdditive();

    private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();

    public LogCapture() {
        this.logger.setLevel(Level.DEBUG);
        this.logger.setAdditive(false);
        this.logger.addAppender(this);
        start();
    }

    @Override
    protected void append(ILoggingEvent event) {
        this.events.add(event);
    }

    public List<String> lines(Level level) {
        return at(level).map(ILoggingEvent::getFormattedMessage).toList();
    }

    Stream<ILoggingEvent> at(Level level) {
        return this.events.stream().filter((event) -> event.getLevel() == level);
    }

    @Override
    public void close() {
        this.logger.detachAppender(this);
        this.logger.setAdditive(this.additive);
        this.logger.setLevel(this.before);
    }

}
