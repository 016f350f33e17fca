package io.delayqueue.migrate.jdbc;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.TimeZone;

import org.jspecify.annotations.Nullable;

/** Computes times by the {@code CronExpression} of a real version of Quartz. */
final class QuartzCalculator {

    private final Constructor<?> constructor;

    private final Method setTimeZone;

    private final Method getTimeAfter;

    /**
     * Loads a version.
     * @param module its module, such as {@code quartz-2.4}
     */
    QuartzCalculator(String module) throws IOException, ReflectiveOperationException {
        List<URL> urls = new ArrayList<>();
        for (String jar : Files.readString(Path.of("peers", module, "target", "class-path"))
            .split(File.pathSeparator)) {
            urls.add(Path.of(jar).toUri().toURL());
        }
        Class<?> type = new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())
            .loadClass("org.quartz.CronExpression");
        this.constructor = type.getConstructor(String.class);
        this.setTimeZone = type.getMethod("setTimeZone", TimeZone.class);
        this.getTimeAfter = type.getMethod("getTimeAfter", Date.class);
    }

    /** Returns the expression; {@code null} if Quartz rejects it. */
    @Nullable Expression parse(String text, ZoneId zone) throws ReflectiveOperationException {
        try {
            Object expression = this.constructor.newInstance(text);
            this.setTimeZone.invoke(expression, TimeZone.getTimeZone(zone));
            return new Expression(expression);
        }
        catch (InvocationTargetException ex) {
            return null;
        }
    }

    /** Computes times of one expression. */
    final class Expression {

        private final Object expression;

        Expression(Object expression) {
            this.expression = expression;
        }

        /** Returns the first time after an instant; {@code null} if there is none. */
        @Nullable Instant after(Instant instant) throws ReflectiveOperationException {
            Date date = (Date) QuartzCalculator.this.getTimeAfter.invoke(this.expression, Date.from(instant));
            return (date != null) ? date.toInstant() : null;
        }

    }

}
