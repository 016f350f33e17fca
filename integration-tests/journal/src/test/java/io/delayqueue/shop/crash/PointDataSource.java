package io.delayqueue.shop.crash;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.function.Consumer;

import javax.sql.DataSource;

import io.delayqueue.shop.crash.JournalPoint.Statement;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Calls back at each {@link JournalPoint} that a thread of this process passes, on that
 * thread. A statement without a transaction is committed when it has been executed.
 */
final class PointDataSource extends DelegatingDataSource {

    private final Consumer<JournalPoint> reached;

    PointDataSource(DataSource target, Consumer<JournalPoint> reached) {
        super(target);
        this.reached = reached;
    }

    @Override
    public Connection getConnection() throws SQLException {
        return proxy(Connection.class, new ObservedConnection(super.getConnection()));
    }

    private void pass(@Nullable JournalPoint point) {
        if (point != null) {
            this.reached.accept(point);
        }
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, handler));
    }

    private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        }
        catch (InvocationTargetException ex) {
            throw ex.getTargetException();
        }
    }

    /** Remembers the last statement of the journal in the present transaction. */
    private final class ObservedConnection implements InvocationHandler {

        private final Connection target;

        private Statement last = Statement.OTHER;

        ObservedConnection(Connection target) {
            this.target = target;
        }

        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
            if (method.getName().equals("commit")) {
                Statement committed = this.last;
                this.last = Statement.OTHER;
                pass(committed.executed);
                Object result = PointDataSource.invoke(this.target, method, arguments);
                pass(committed.committed);
                return result;
            }
            if (method.getName().equals("rollback")) {
                this.last = Statement.OTHER;
            }
            Object result = PointDataSource.invoke(this.target, method, arguments);
            if (method.getName().equals("prepareStatement")) {
                Statement statement = Statement.of((String) arguments[0]);
                return (statement != Statement.OTHER)
                        ? proxy(PreparedStatement.class, observed((PreparedStatement) result, statement)) : result;
            }
            return result;
        }

        private InvocationHandler observed(PreparedStatement prepared, Statement statement) {
            return (proxy, method, arguments) -> {
                if (method.getName().startsWith("execute")) {
                    this.last = statement;
                    pass(statement.before);
                }
                Object result = PointDataSource.invoke(prepared, method, arguments);
                if (method.getName().startsWith("execute") && this.target.getAutoCommit()) {
                    pass(statement.committed);
                }
                return result;
            };
        }

    }

}
