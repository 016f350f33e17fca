package io.delayqueue.kotlin

import io.delayqueue.DelayQueueOperations
import io.delayqueue.DelayedListener
import io.delayqueue.autoconfigure.DelayQueueAutoConfiguration
import io.delayqueue.autoconfigure.DelayQueueListenerAutoConfiguration
import io.delayqueue.listener.DelayedListenerRegistry
import java.time.Duration
import java.util.concurrent.CopyOnWriteArrayList
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flowOf
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.MethodSource
import org.springframework.boot.autoconfigure.AutoConfigurations
import org.springframework.boot.test.context.runner.ApplicationContextRunner
import reactor.core.publisher.Flux
import reactor.core.publisher.Mono
import reactor.core.publisher.Sinks

/** Tests listeners that return reactive types, and which of them fail the start. */
class ReactiveListenerTests {

    private val application = ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                DelayQueueAutoConfiguration::class.java,
                DelayQueueListenerAutoConfiguration::class.java
            )
        )
        .withPropertyValues("delayqueue.store=memory", "delayqueue.listener.max-attempts=1")

    @Test
    fun `a message is acknowledged when its Mono completes and not before`() {
        application.withBean(Monos::class.java).run { context ->
            val queue = context.getBean(DelayQueueOperations::class.java)
            val listener = context.getBean(Monos::class.java)
            val statistics = { context.getBean(DelayedListenerRegistry::class.java).require("monos").statistics() }
            queue.send("monos", "first", "text", Duration.ZERO)
            await().until { listener.subscribed == listOf("text") }
            assertThat(statistics().handled()).isZero()
            assertThat(queue.find("monos", "first")).isPresent()

            listener.sink.tryEmitValue("done")
            await().until { queue.find("monos", "first").isEmpty }
            assertThat(statistics().handled()).isOne()
        }
    }

    @Test
    fun `a Mono without a value is acknowledged and one that fails is not`() {
        application.withBean(Monos::class.java).run { context ->
            val queue = context.getBean(DelayQueueOperations::class.java)
            val statistics = { context.getBean(DelayedListenerRegistry::class.java).require("fixed").statistics() }
            queue.send("fixed", "empty")
            queue.send("fixed", "null")
            queue.send("fixed", "error")

            await().until { statistics().handled() == 2L && statistics().deadLettered() == 1L }
            assertThat(queue.deadLetters("fixed").list(null, 1).deadLetters().single().cause())
                .startsWith("java.lang.IllegalStateException: boom")
        }
    }

    @Test
    fun `a Mono is cancelled after the timeout`() {
        application.withBean(Monos::class.java).withPropertyValues("delayqueue.listener.timeout=50ms").run { context ->
            val queue = context.getBean(DelayQueueOperations::class.java)
            val listener = context.getBean(Monos::class.java)
            queue.send("monos", "first", "text", Duration.ZERO)

            await().until { listener.cancelled == listOf("text") }
            await().until { queue.deadLetters("monos").list(null, 1).deadLetters().size == 1 }
            assertThat(queue.deadLetters("monos").list(null, 1).deadLetters().single().cause())
                .contains("HandlerTimeoutException")
        }
    }

    @ParameterizedTest
    @MethodSource("unsuitable")
    fun `results that do not show when the handling ends fail the start`(type: Class<*>, problem: String) {
        application.withBean(type).run { context ->
            assertThat(context).hasFailed()
            assertThat(context.startupFailure).hasStackTraceContaining(problem)
        }
    }

    open class Monos {

        val subscribed = CopyOnWriteArrayList<String>()

        val cancelled = CopyOnWriteArrayList<String>()

        val sink: Sinks.One<String> = Sinks.one()

        @DelayedListener(queues = ["monos"], id = "monos")
        fun mono(payload: String): Mono<String> = sink.asMono()
            .doOnSubscribe { subscribed += payload }
            .doOnCancel { cancelled += payload }

        @DelayedListener(queues = ["fixed"], id = "fixed")
        fun fixed(payload: String): Mono<Void>? = when (payload) {
            "empty" -> Mono.empty()
            "error" -> Mono.error(IllegalStateException("boom"))
            else -> null
        }

    }

    class ReturnsFlux {

        @DelayedListener("flux")
        fun handle(payload: String): Flux<String> = Flux.just(payload)

    }

    class ReturnsFlow {

        @DelayedListener("flow")
        fun handle(payload: String): Flow<String> = flowOf(payload)

    }

    class SuspendsForFlow {

        @DelayedListener("flow")
        @Suppress("RedundantSuspendModifier")
        suspend fun handle(payload: String): Flow<String> = flowOf(payload)

    }

    class SuspendsForValue {

        @DelayedListener("value")
        @Suppress("RedundantSuspendModifier")
        suspend fun handle(payload: String): Boolean = payload.isEmpty()

    }

    class ReturnsValue {

        @DelayedListener("value")
        fun handle(payload: String): Boolean = payload.isEmpty()

    }

    companion object {

        @JvmStatic
        fun unsuitable(): List<Array<Any>> = listOf(
            arrayOf(ReturnsFlux::class.java, "but this one returns reactor.core.publisher.Flux, which may have several"),
            arrayOf(ReturnsFlow::class.java, "but this one returns kotlinx.coroutines.flow.Flow"),
            arrayOf(SuspendsForFlow::class.java, "a suspend function that is a handler returns nothing"),
            arrayOf(SuspendsForValue::class.java, "a suspend function that is a handler returns nothing"),
            arrayOf(ReturnsValue::class.java, "such as Mono, but this one returns boolean")
        )

    }

}
