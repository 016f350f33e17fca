package io.delayqueue.sample;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

import org.springframework.context.annotation.Profile;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * Stores orders in the database that has the journal too, so that an order and its
 * messages are in one transaction.
 */
@Repository
@Profile("ledger")
class JdbcOrders implements Orders {

    private final JdbcClient jdbc;

    JdbcOrders(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    @Override
    public void add(Order order) {
        this.jdbc.sql("""
                INSERT INTO shop_order (id, item, amount, simulate, state, pay_until_millis)
                VALUES (:id, :item, :amount, :simulate, :state, :payUntil)""")
            .param("id", order.id())
            .param("item", order.item())
            .param("amount", order.amount())
            .param("simulate", order.simulate().name())
            .param("state", order.state().name())
            .param("payUntil", order.payUntil().toEpochMilli())
            .update();
    }

    @Override
    public void remove(String id) {
        this.jdbc.sql("DELETE FROM shop_order WHERE id = :id").param("id", id).update();
    }

    @Override
    public Optional<Order> find(String id) {
        return this.jdbc.sql("SELECT * FROM shop_order WHERE id = :id")
            .param("id", id)
            .query((row, number) -> order(row))
            .optional();
    }

    @Override
    public boolean close(String id, Order.State state) {
        return this.jdbc.sql("UPDATE shop_order SET state = :state WHERE id = :id AND state = 'OPEN'")
            .param("id", id)
            .param("state", state.name())
            .update() == 1;
    }

    @Override
    public void extend(String id, Instant payUntil) {
        this.jdbc.sql("UPDATE shop_order SET pay_until_millis = :payUntil WHERE id = :id")
            .param("id", id)
            .param("payUntil", payUntil.toEpochMilli())
            .update();
    }

    @Override
    public List<OrderView> latest(int limit) {
        return this.jdbc.sql("SELECT * FROM shop_order ORDER BY number DESC LIMIT :limit")
            .param("limit", limit)
            .query((row, number) -> order(row).view())
            .list();
    }

    private static Order order(ResultSet row) throws SQLException {
        return new Order(row.getString("id"), row.getString("item"), row.getBigDecimal("amount"),
                Simulation.valueOf(row.getString("simulate")), Order.State.valueOf(row.getString("state")),
                Instant.ofEpochMilli(row.getLong("pay_until_millis")));
    }

}
