package io.delayqueue.kotlin

import io.delayqueue.DelayQueueOperations
import io.delayqueue.DelayedListener
import io.delayqueue.Delivery
import io.delayqueue.kotlin.LeaseLossTests.Listeners
import io.delayqueue.test.DelayQueueTester
import io.delayqueue.test.autoconfigure.DelayQueueTest
import java.time.Duration
import java.util.concurrent.CopyOnWriteArrayList
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.isActive
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test
import org.springframework.beans.factory.annotation.Autowired
import org.springframework.boot.SpringBootConfiguration
import org.springframework.context.annotation.Bean
import reactor.core.publisher.Mono

/** Tests, in virtual time, that a handler without a lease is cancelled. */
@DelayQueueTest
class LeaseLossTests @Autowired constructor(
    private val tester: DelayQueueTester,
    private val queue: DelayQueueOperations,
    private val listeners: Listeners
) {

    @BeforeEach
    fun reset() {
        listeners.attempts.clear()
        listeners.cancelled.clear()
    }

    @Test
    fun `a coroutine is cancelled when its lease is lost and its attempt does not count`() {
        queue.send("coroutines", "m", "text", Duration.ofMinutes(30))
        tester.loseLease("m")

        tester.whileHandling("m").advance(Duration.ofSeconds(30))

        assertThat(listeners.cancelled).contains("m 1")
        assertThat(listeners.attempts).containsOnly(1)
    }

    @Test
    fun `a Mono is cancelled when its lease is lost`() {
        queue.send("monos", "m", "text", Duration.ofMinutes(30))
        tester.loseLease("m")

        tester.whileHandling("m").advance(Duration.ofSeconds(30))

        assertThat(listeners.cancelled).contains("mono")
    }

    @Test
    fun `a coroutine keeps its lease for as long as it takes`() {
        queue.send("coroutines", "quick", "text", Duration.ofMinutes(30))

        val deliveries = tester.whileHandling("quick").advance(Duration.ofHours(1))

        assertThat(deliveries.all()).hasSize(1)
        assertThat(listeners.attempts).containsExactly(1)
    }

    open class Listeners {

        val cancelled = CopyOnWriteArrayList<String>()

        val attempts = CopyOnWriteArrayList<Int>()

        @DelayedListener(queues = ["coroutines"], concurrency = "2")
        suspend fun coroutine(@Suppress("UNUSED_PARAMETER") payload: String, delivery: Delivery) {
            attempts += delivery.attempt()
            if (delivery.id() == "quick" || attempts.size > 1) {
                return
            }
            try {
                awaitCancellation()
            } finally {
                check(!currentCoroutineContext().isActive)
                cancelled += "${delivery.id()} ${delivery.attempt()}"
            }
        }

        @DelayedListener(queues = ["monos"], concurrency = "2")
        fun mono(@Suppress("UNUSED_PARAMETER") payload: String): Mono<Void> =
            if (cancelled.contains("mono")) Mono.empty() else Mono.never<Void>().doOnCancel { cancelled += "mono" }

    }

    @SpringBootConfiguration
    open class Application {

        @Bean
        open fun listeners() = Listeners()

    }

}
