package io.delayqueue.shop;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Calls a method before each statement that a connection of an application prepares. */
public abstract class StatementInterceptor implements BeanPostProcessor {

    @Override
    public final Object postProcessAfterInitialization(Object bean, String name) {
        return (bean instanceof DataSource source) ? new DelegatingDataSource(source) {

            @Override
            public Connection getConnection() throws SQLException {
                return intercepted(super.getConnection());
            }

        } : bean;
    }

    private Connection intercepted(Connection target) {
        return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Connection.class },
                (proxy, method, arguments) -> {
                    if (method.getName().equals("prepareStatement")) {
                        beforeStatement((String) arguments[0]);
                    }
                    try {
                        return method.invoke(target, arguments);
                    }
                    catch (InvocationTargetException ex) {
                        throw ex.getTargetException();
                    }
                });
    }

    /** Is called with the text of a statement, on the thread that prepares it. */
    protected abstract void beforeStatement(String statement) throws InterruptedException;

}
