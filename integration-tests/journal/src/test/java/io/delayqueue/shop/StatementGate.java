package io.delayqueue.shop;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Blocks or delays some statements while it is closed. */
public final class StatementGate implements BeanPostProcessor {

    /** A part of the statement by which a restore reads rows. */
    static final String RESTORE = "accepted = TRUE AND claimed_until >=";

    /** A part of the statement that records that Redis has accepted a request. */
    static final String ACCEPTANCE = "SET accepted = TRUE";

    private volatile CountDownLatch opened = new CountDownLatch(0);

    private volatile String blocked = "";

    private volatile Duration delay = Duration.ZERO;

    private final AtomicInteger waiting = new AtomicInteger();

    /** Blocks the statements that contain a text. */
    void close(String text) {
        delay(text, Duration.ofHours(1));
    }

    /** Delays each statement that contains a text. */
    public void delay(String text, Duration delay) {
        this.blocked = text;
        this.delay = delay;
        this.opened = new CountDownLatch(1);
    }

    public void open() {
        this.opened.countDown();
    }

    /** Returns whether a statement waits. */
    boolean isReached() {
        return this.waiting.get() > 0;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        return (bean instanceof DataSource source) ? new DelegatingDataSource(source) {

            @Override
            public Connection getConnection() throws SQLException {
                return gated(super.getConnection());
            }

        } : bean;
    }

    private Connection gated(Connection target) {
        return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Connection.class },
                (proxy, method, arguments) -> call(target, method, arguments));
    }

    private Object call(Connection target, Method method, Object[] arguments) throws Throwable {
        if (method.getName().equals("prepareStatement") && ((String) arguments[0]).contains(this.blocked)) {
            this.waiting.incrementAndGet();
            this.opened.await(this.delay.toNanos(), TimeUnit.NANOSECONDS);
            this.waiting.decrementAndGet();
        }
        try {
            return method.invoke(target, arguments);
        }
        catch (InvocationTargetException ex) {
            throw ex.getTargetException();
        }
    }

}
