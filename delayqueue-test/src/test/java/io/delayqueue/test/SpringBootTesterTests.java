package io.delayqueue.test;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.SendOutcome;
import io.delayqueue.test.autoconfigure.AutoConfigureDelayQueueTester;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.transaction.TestTransaction;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.BDDMockito.then;

/** Verifies the tester in the context of a whole application. */
@SpringBootTest(properties = "delayqueue.send.after-commit=true")
@AutoConfigureDelayQueueTester(startAt = "2026-03-29T00:59:00Z", joinClock = true)
@Import(SpringBootTesterTests.Configuration.class)
@TestMethodOrder(MethodOrderer.MethodName.class)
class SpringBootTesterTests {

    private static final Instant START = Instant.parse("2026-03-29T00:59:00Z");

    @Autowired
    private DelayQueueTester tester;

    @Autowired
    private DelayQueueOperations queue;

    @Autowired
    private Clock clock;

    @MockitoBean
    private Mailer mailer;

    @Test
    void beanOfTheTestIsCalledByTheListener() {
        this.queue.send("mail", "hello", Duration.ofMinutes(30));

        assertThat(this.tester.advance(Duration.ofMinutes(30))).hasSucceeded(1).hasNoOthers();

        then(this.mailer).should().mail("hello");
    }

    @Test
    void clockOfTheApplicationFollowsTimeInItsZone() {
        assertThat(this.clock.getZone()).isEqualTo(ZoneId.of("Europe/Berlin"));
        assertThat(this.clock.instant()).isEqualTo(START).isEqualTo(this.tester.now());

        this.tester.advance(Duration.ofMinutes(1));

        // Summer time begins.
        assertThat(this.clock.instant().atZone(this.clock.getZone()))
            .hasToString("2026-03-29T03:00+02:00[Europe/Berlin]");
    }

    @Test
    @Transactional
    void timeDoesNotMoveWhileSendsWaitForACommit() {
        assertThat(this.queue.send("mail", "hello", Duration.ZERO).outcome()).isEqualTo(SendOutcome.DEFERRED);

        assertThatIllegalStateException().isThrownBy(() -> this.tester.drain())
            .withMessageStartingWith("1 of the test's sends wait for the commit of its transaction")
            .withMessageContaining("TestTransaction.end()");

        TestTransaction.flagForCommit();
        TestTransaction.end();
        assertThat(this.tester.drain()).hasSucceeded(1).hasNoOthers();
    }

    @Test
    void contextThatWasPausedContinues(@Autowired ConfigurableApplicationContext context) {
        context.pause();
        context.restart();
        this.queue.send("mail", "hello", Duration.ofMinutes(30));

        assertThat(this.tester.advance(Duration.ofMinutes(30))).hasSucceeded(1).hasNoOthers();
    }

    /** The test before has advanced time and left messages. */
    @Test
    void eachTestBeginsAtTheSameTimeWithAnEmptyNamespace1() {
        eachTestBeginsAtTheSameTimeWithAnEmptyNamespace2();
    }

    @Test
    void eachTestBeginsAtTheSameTimeWithAnEmptyNamespace2() {
        assertThat(this.tester.now()).isEqualTo(START);
        assertThat(this.tester.queue("mail")).isEmpty();
        this.queue.send("mail", "left", Duration.ofMinutes(30));
        this.tester.advance(Duration.ofMinutes(1));
    }

    /** Sends mail. */
    interface Mailer {

        void mail(String text);

    }

    @TestConfiguration(proxyBeanMethods = false)
    static class Configuration {

        @Bean
        Clock clock() {
            return Clock.system(ZoneId.of("Europe/Berlin"));
        }

        @Bean
        MailListener mailListener(Mailer mailer) {
            return new MailListener(mailer);
        }

        @Bean
        NoDatabase transactionManager() {
            return new NoDatabase();
        }

    }

    static class MailListener {

        private final Mailer mailer;

        MailListener(Mailer mailer) {
            this.mailer = mailer;
        }

        @DelayedListener("mail")
        void mail(String text) {
            this.mailer.mail(text);
        }

    }

    /** Begins and ends transactions of nothing. */
    static class NoDatabase extends AbstractPlatformTransactionManager {

        private static final long serialVersionUID = 1L;

        @Override
        protected Object doGetTransaction() {
            return new Object();
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {
        }

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
        }

        @Override
        protected void doRollback(DefaultTransactionStatus status) {
        }

    }

}
