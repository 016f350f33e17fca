package io.delayqueue.web.api;

import java.time.Instant;

import io.delayqueue.admin.AuditedOperationEvent;
import io.delayqueue.admin.AuditedOperationEvent.Outcome;
import io.delayqueue.journal.RestorePlan;
import io.delayqueue.web.Ledger;
import io.delayqueue.web.consume.ApiServer;
import io.delayqueue.web.consume.ApiServer.Reply;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests restores over HTTP: their steps, their limits and their audit. */
@Tag("server")
class RestoreRoutesTests {

    private static final String PATH = ApiServer.PATH + "/queues/orders/restore";

    private static ApiServer server;

    private Ledger ledger;

    @BeforeAll
    static void start() {
        server = ApiServer.start(LedgerApplication.class);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void forget() {
        this.ledger = server.bean(Ledger.class);
        this.ledger.plans().clear();
        server.audited().clear();
    }

    @Test
    void aRestoreIsTakenInStepsAndEachIsAudited() {
        Reply first = server.post(PATH, "{\"rate\": 5000}");
        Reply second = server.post(PATH, "{\"rate\": 5000, \"cursor\": \"1_1\"}");

        assertThat(first.body())
            .isEqualTo("{\"restored\":998,\"known\":2,\"skipped\":0,\"failed\":0,\"nextCursor\":\"1_1\"}");
        assertThat(second.body())
            .isEqualTo("{\"restored\":200,\"known\":0,\"skipped\":3,\"failed\":1,\"nextCursor\":\"2_2\"}");
        assertThat(this.ledger.plans()).containsOnly(RestorePlan.all().queue("orders").rate(5000)).hasSize(2);
        assertThat(server.audited()).containsExactly(
                new AuditedOperationEvent(ApiServer.ALL, "restore", "orders", "{\"rate\":5000}", 998),
                new AuditedOperationEvent(ApiServer.ALL, "restore", "orders", "{\"rate\":5000,\"cursor\":\"1_1\"}",
                        200));
    }

    /** A count changes nothing, so the audit is silent. */
    @Test
    void aDryRunHasTheWholePlanAndIsNotAudited() {
        Reply reply = server.post(PATH, """
                {"dryRun": true, "id": "42", "dueBefore": "2026-01-01T00:00:00Z", "includeExpired": true}""");

        assertThat(reply.status()).isEqualTo(200);
        assertThat(this.ledger.plans())
            .containsExactly(new RestorePlan("orders", "42", Instant.parse("2026-01-01T00:00:00Z"), true, 0, true));
        assertThat(server.audited()).isEmpty();
    }

    /** An operator must not take it for a queue that has lost nothing. */
    @Test
    void aQueueOfAnotherJournalIsRejectedWithTheReason() {
        Reply reply = server.post(PATH, "{\"dryRun\": true, \"id\": \"foreign\"}");

        assertThat(reply.problem()).isEqualTo("store-refused");
        assertThat(reply.detail()).isEqualTo("Queue 'orders' is not restored: it belongs to another journal");
    }

    @Test
    void aTimeBeforeTheEpochSelectsNothing() {
        Reply reply = server.post(PATH, "{\"dryRun\": true, \"dueBefore\": \"-1000000000-01-01T00:00:00Z\"}");

        assertThat(reply.status()).isEqualTo(200);
        assertThat(this.ledger.plans()).singleElement().extracting(RestorePlan::dueBefore).isEqualTo(Instant.EPOCH);
    }

    @Test
    void invalidPlansAreRejectedWithTheRule() {
        assertThat(server.post(PATH, "{\"rate\": -1}").detail()).startsWith("Rate -1 is negative");
        assertThat(server.post(PATH, "{\"cursor\": \"x\"}").detail()).isEqualTo("Cursor is not valid");
        assertThat(server.post(PATH, "{\"cursor\": \"%s\"}".formatted("x".repeat(600))).detail())
            .isEqualTo("Field 'cursor' is not valid: use the nextCursor of the step before");
        assertThat(server.post(PATH, "{\"id\": \"\"}").problem()).isEqualTo("invalid");
        assertThat(server.post(PATH, "{\"dueBefore\": \"+999999999-01-01T00:00:00Z\"}").problem()).isEqualTo("invalid");
        assertThat(server.post(PATH, "{\"queue\": \"other\"}").detail()).contains("is not known");
        assertThat(this.ledger.plans()).isEmpty();
        assertThat(server.audited()).isEmpty();
    }

    @Test
    void aQueueWithoutALedgerIsNotFound() {
        assertThat(server.post(ApiServer.PATH + "/queues/others/restore", "{}").status()).isEqualTo(404);

        Reply reply = ApiServer.shared().post(PATH, "{}");
        assertThat(reply.status()).isEqualTo(404);
        assertThat(reply.detail()).contains("delayqueue.journal.mode");
    }

    @Test
    void aDatabaseThatIsAwayIsAnUnavailableStoreAndAudited() {
        Reply reply = server.post(PATH, "{\"id\": \"away\"}");

        assertThat(reply.status()).isEqualTo(503);
        assertThat(reply.problem()).isEqualTo("store-unavailable");
        assertThat(server.audited()).containsExactly(
                new AuditedOperationEvent(ApiServer.ALL, "restore", "orders", "{\"id\":\"away\"}", 0, Outcome.FAILED));
    }

    /** Has a ledger of one queue. */
    @Configuration(proxyBeanMethods = false)
    @Import(ApiServer.Application.class)
    static class LedgerApplication {

        @Bean
        Ledger ledger() {
            return new Ledger("orders");
        }

    }

}
