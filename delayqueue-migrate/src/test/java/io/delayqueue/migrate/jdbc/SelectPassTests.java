package io.delayqueue.migrate.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mockito.InOrder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;

/** Ends the transaction of a pass with its connection. */
class SelectPassTests {

    private final Connection connection = mock();

    private final PreparedStatement statement = mock();

    @BeforeEach
    void createStatement() throws SQLException {
        ResultSet rows = mock();
        DatabaseMetaData database = mock();
        given(database.getDatabaseProductName()).willReturn("H2");
        given(this.connection.getMetaData()).willReturn(database);
        given(this.connection.prepareStatement(any(), anyInt(), anyInt())).willReturn(this.statement);
        given(this.statement.executeQuery()).willReturn(rows);
    }

    @Test
    void theTransactionEndsBeforeTheConnectionIsClosed() throws SQLException {
        SelectPass.all(this.connection, "SELECT").close();

        verifyEnd();
    }

    @Test
    void theConnectionIsClosedAfterAQueryThatFails() throws SQLException {
        willThrow(new SQLException("It fails")).given(this.statement).executeQuery();

        assertThatExceptionOfType(SQLException.class).isThrownBy(() -> SelectPass.all(this.connection, "SELECT"))
            .withMessage("It fails");

        verifyEnd();
    }

    @Test
    void theConnectionIsClosedIfItsTransactionCannotBeEnded() throws SQLException {
        willThrow(new SQLException("It is broken")).given(this.connection).rollback();
        SelectPass pass = SelectPass.all(this.connection, "SELECT");

        assertThatExceptionOfType(SQLException.class).isThrownBy(pass::close);

        verify(this.connection).close();
    }

    /**
     * PostgreSQL ends a session whose transaction is idle for too long, and a statement
     * that waits for a lock for longer than {@code lock_timeout}.
     */
    @ParameterizedTest
    @CsvSource({ "25P03, true", "55P03, true", "08006, true", "25P02, false", "55P02, false", "42P01, false" })
    void aFailureMayPass(String state, boolean passes) {
        assertThat(Database.isPassing(new SQLException("It fails", state))).isEqualTo(passes);
    }

    private void verifyEnd() throws SQLException {
        InOrder order = inOrder(this.connection);
        order.verify(this.connection).rollback();
        order.verify(this.connection).close();
    }

}
