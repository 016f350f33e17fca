package io.delayqueue.journal;

import java.lang.reflect.Method;
import java.sql.SQLException;
import java.sql.Statement;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Keeps the driver of PostgreSQL from caching the plans of statements: a plan that was
 * made while a table was empty would read it whole once it has grown. Thread-safe.
 */
final class ReplanningJdbcTemplate extends JdbcTemplate {

    static final String STATEMENT = "org.postgresql.PGStatement";

    static final String THRESHOLD = "setPrepareThreshold";

    private final @Nullable Method threshold;

    ReplanningJdbcTemplate(DataSource dataSource) {
        super(dataSource);
        this.threshold = method();
    }

    private static @Nullable Method method() {
        try {
            return ClassUtils.getMethod(ClassUtils.forName(STATEMENT, null), THRESHOLD, int.class);
        }
        catch (ClassNotFoundException ex) {
            return null; // another driver
        }
    }

    @Override
    protected void applyStatementSettings(Statement statement) throws SQLException {
        super.applyStatementSettings(statement);
        Method method = this.threshold;
        if (method != null && statement.isWrapperFor(method.getDeclaringClass())) {
            ReflectionUtils.invokeMethod(method, statement.unwrap(method.getDeclaringClass()), 0);
        }
    }

}
