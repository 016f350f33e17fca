package io.delayqueue.kotlin

import io.delayqueue.DelayQueueOperations
import io.delayqueue.DelayedListener
import io.delayqueue.Delivery
import io.delayqueue.MessageState
import io.delayqueue.autoconfigure.DelayQueueAutoConfiguration
import io.delayqueue.autoconfigure.DelayQueueListenerAutoConfiguration
import io.delayqueue.autoconfigure.DelayQueueObservationAutoConfiguration
import io.delayqueue.listener.DelayedListenerLifecycle
import io.delayqueue.listener.DelayedListenerRegistry
import io.delayqueue.listener.poll.ListenerStatistics
import io.micrometer.observation.Observation
import io.micrometer.observation.ObservationHandler
import io.micrometer.observation.ObservationRegistry
import java.time.Duration
import java.util.concurrent.CopyOnWriteArrayList
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.slf4j.MDC
import org.springframework.aop.framework.AopProxyUtils
import org.springframework.aop.framework.ProxyFactory
import org.springframework.beans.factory.config.BeanPostProcessor
import org.springframework.boot.autoconfigure.AutoConfigurations
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration
import org.springframework.boot.test.context.runner.ApplicationContextRunner
import org.springframework.core.Ordered

/**
 * Tests suspend functions as listeners: a message is acknowledged when its coroutine has
 * ended, and the permit returns then, whatever has ended it.
 */
class CoroutineListenerTests {

    private val application = ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                JacksonAutoConfiguration::class.java,
                DelayQueueAutoConfiguration::class.java,
                DelayQueueListenerAutoConfiguration::class.java
            )
        )
        .withPropertyValues(
            "delayqueue.store=memory",
            "delayqueue.listener.concurrency=1",
            "delayqueue.listener.max-attempts=2",
            "delayqueue.listener.backoff.initial=10ms",
            "delayqueue.listener.shutdown-timeout=100ms"
        )
        .withBean(Coroutines::class.java)

    private fun run(vararg properties: String, test: (DelayQueueOperations, Coroutines, ListenerControl) -> Unit) {
        application.withPropertyValues(*properties).run { context ->
            test(
                context.getBean(DelayQueueOperations::class.java),
                context.getBean(Coroutines::class.java),
                ListenerControl(
                    context.getBean(DelayedListenerRegistry::class.java),
                    context.getBean(DelayedListenerLifecycle::class.java)
                )
            )
        }
    }

    @Test
    fun `a message is acknowledged when its coroutine has ended and not before`() = run { queue, listener, control ->
        queue.send("orders", "first", Order(1, null), Duration.ZERO)
        queue.send("orders", "second", Order(2, "with care"), Duration.ofMillis(1))
        await().until { listener.begun == listOf("first") }
        listener.awaitSuspension()

        assertThat(queue.find("orders", "first")).hasValueSatisfying { assertThat(it.state()).isEqualTo(MessageState.LEASED) }
        assertThat(control.statistics("orders").handled()).isZero()

        listener.gate.complete(Unit)
        await().until { listener.begun == listOf("first", "second") }
        await().until { queue.find("orders", "first").isEmpty && queue.find("orders", "second").isEmpty }
        await().until { control.statistics("orders") == ListenerStatistics(2, 0, 0, 0, 0, 0, 0, 0) }
        assertThat(listener.orders).containsExactly(Order(1, null), Order(2, "with care"))
    }

    @Test
    fun `the coroutine continues on handler threads and in the context of its message`() = run { queue, listener, _ ->
        queue.send("orders", "first", Order(1, null), Duration.ZERO)
        listener.awaitSuspension()
        MDC.put("delayqueue.id", "of the thread that resumes")
        try {
            listener.gate.complete(Unit)
        } finally {
            MDC.remove("delayqueue.id")
        }

        await().until { listener.resumedOn.isNotEmpty() }
        assertThat(listener.resumedOn.single()).startsWith("delayqueue-handler-").endsWith(" first")
    }

    @Test
    fun `a coroutine that fails is retried and dead-lettered`() = run { queue, listener, control ->
        listener.failure = IllegalStateException("boom")
        listener.gate.complete(Unit)
        queue.send("orders", "first", Order(1, null), Duration.ZERO)

        await().until { queue.deadLetters("orders").list(null, 1).deadLetters().size == 1 }
        assertThat(queue.deadLetters("orders").list(null, 1).deadLetters().single().cause())
            .startsWith("java.lang.IllegalStateException: boom")
        assertThat(control.statistics("orders").failed()).isEqualTo(2)
    }

    @Test
    fun `the permit returns after a timeout only when the coroutine and its children have ended`() =
        run("delayqueue.listener.timeout=50ms") { queue, listener, control ->
            queue.send("stubborn", "first", Order(1, null), Duration.ZERO)
            queue.send("stubborn", "second", Order(2, null), Duration.ofMillis(1))
            await().until { listener.cancelled.isNotEmpty() }

            assertThat(listener.begun).containsExactly("first")
            assertThat(control.free("stubborn")).isZero()
            assertThat(control.statistics("stubborn").failed()).isZero()
            listener.cleanUp.complete(Unit)

            await().until { listener.begun.contains("second") }
            await().until { queue.deadLetters("stubborn").list(null, 10).deadLetters().size == 2 }
            assertThat(queue.deadLetters("stubborn").list(null, 1).deadLetters().single().cause())
                .contains("HandlerTimeoutException")
        }

    @Test
    fun `a stop cancels a coroutine that outlives it and releases its message`() = run { queue, listener, control ->
        listener.cleanUp.complete(Unit)
        queue.send("stubborn", "first", Order(1, null), Duration.ZERO)
        await().until { listener.begun == listOf("first") }

        control.stop()

        assertThat(listener.cancelled).containsExactly("first")
        await().until { queue.find("stubborn", "first").get().state() == MessageState.SCHEDULED }
        assertThat(queue.find("stubborn", "first").get().failures()).isZero()
        assertThat(control.statistics("stubborn").failed()).isZero()
    }

    @Test
    fun `a batch is settled when its coroutine has ended`() = run { queue, listener, control ->
        for (i in 1..3) {
            queue.send("batches", "m$i", Order(i, null), Duration.ZERO)
        }
        control.start("batches")
        listener.awaitSuspension()
        assertThat(control.statistics("batches").handled()).isZero()

        listener.gate.complete(Unit)
        await().until { control.statistics("batches").handled() == 3L }
        assertThat(control.statistics("batches")).isEqualTo(ListenerStatistics(3, 1, 1, 0, 0, 0, 0, 0))
        assertThat(listener.begun).containsExactly("m1", "m2", "m3", "m2")
    }

    @Test
    fun `a deferred result is awaited`() = run { queue, listener, control ->
        queue.send("deferred", "first", Order(1, null), Duration.ZERO)
        await().until { listener.begun == listOf("first") }
        assertThat(control.statistics("deferred").handled()).isZero()

        listener.deferred.complete(1)
        await().until { control.statistics("deferred").handled() == 1L }
    }

    @Test
    fun `a suspend function is called through proxies`() {
        val calls = CopyOnWriteArrayList<String>()
        application.withBean(Proxies::class.java, { Proxies(calls) })
            .run { context ->
                val listener = AopProxyUtils.getSingletonTarget(context.getBean(Coroutines::class.java)) as Coroutines
                listener.gate.complete(Unit)
                context.getBean(DelayQueueOperations::class.java).send("orders", "first", Order(1, null), Duration.ZERO)

                await().until { listener.orders == listOf(Order(1, null)) }
                assertThat(calls).contains("order")
            }
    }

    @Test
    fun `the observation of the handler is current after a suspension`() {
        application
            .withConfiguration(
                AutoConfigurations.of(
                    ObservationAutoConfiguration::class.java,
                    DelayQueueObservationAutoConfiguration::class.java
                )
            )
            .withPropertyValues("delayqueue.observation.enabled=true")
            .withBean(ObservationHandler::class.java, { ObservationHandler<Observation.Context> { true } })
            .run { context ->
                val listener = context.getBean(Coroutines::class.java)
                listener.observations = context.getBean(ObservationRegistry::class.java)
                context.getBean(DelayQueueOperations::class.java).send("orders", "first", Order(1, null), Duration.ZERO)
                listener.awaitSuspension()
                listener.gate.complete(Unit)

                await().until { listener.observed.isNotEmpty() }
                assertThat(listener.observed).containsExactly("delayqueue.handle")
                assertThat(listener.observations.currentObservation).isNull()
            }
    }

    /** Controls the listeners of an application. */
    private class ListenerControl(
        private val registry: DelayedListenerRegistry,
        private val lifecycle: DelayedListenerLifecycle
    ) {

        fun statistics(id: String): ListenerStatistics = registry.require(id).statistics()

        fun free(id: String): Int = registry.require(id).freeHandlers().values.sum()

        fun start(id: String) = registry.require(id).start()

        fun stop() = lifecycle.stop()

    }

    /** Creates proxies, before listeners are found, as Spring's own do. */
    private class Proxies(private val calls: MutableList<String>) : BeanPostProcessor, Ordered {

        override fun getOrder(): Int = Ordered.HIGHEST_PRECEDENCE

        override fun postProcessAfterInitialization(bean: Any, beanName: String): Any {
            if (bean !is Coroutines) {
                return bean
            }
            val factory = ProxyFactory(bean)
            factory.isProxyTargetClass = true
            factory.addAdvice(org.aopalliance.intercept.MethodInterceptor { invocation ->
                calls += invocation.method.name
                invocation.proceed()
            })
            return factory.proxy
        }

    }

    data class Order(val number: Int, val note: String?)

    open class Coroutines {

        val begun = CopyOnWriteArrayList<String>()

        val orders = CopyOnWriteArrayList<Order>()

        val cancelled = CopyOnWriteArrayList<String>()

        val resumedOn = CopyOnWriteArrayList<String>()

        val observed = CopyOnWriteArrayList<String>()

        /** Ends the suspension of the handlers. */
        val gate = CompletableDeferred<Unit>()

        /** Ends the cleaning up of cancelled handlers. */
        val cleanUp = CompletableDeferred<Unit>()

        val deferred = CompletableDeferred<Int>()

        private val suspended = CompletableDeferred<Unit>()

        var failure: Exception? = null

        var observations: ObservationRegistry = ObservationRegistry.NOOP

        open fun awaitSuspension() {
            await().until { suspended.isCompleted }
        }

        @DelayedListener(queues = ["orders"], id = "orders")
        open suspend fun order(order: Order, delivery: Delivery) {
            begun += delivery.id()
            suspended.complete(Unit)
            gate.await()
            // Resumed by the gate, if that was closed; by a dispatch otherwise.
            delay(1)
            resumedOn += Thread.currentThread().name + " " + MDC.get("delayqueue.id")
            observations.currentObservation?.let { observed += it.contextView.name ?: "" }
            failure?.let { throw it }
            orders += order
        }

        @DelayedListener(queues = ["stubborn"], id = "stubborn")
        open suspend fun stubborn(@Suppress("UNUSED_PARAMETER") order: Order, delivery: Delivery) = coroutineScope {
            begun += delivery.id()
            launch {
                try {
                    awaitCancellation()
                } finally {
                    cancelled += delivery.id()
                    withContext(NonCancellable) { cleanUp.await() }
                }
            }
            Unit
        }

        @DelayedListener(queues = ["batches"], id = "batches", batch = true, autoStartup = "false")
        open suspend fun batch(orders: List<Order>, deliveries: List<Delivery>) {
            begun += deliveries.map { it.id() }
            suspended.complete(Unit)
            gate.await()
            deliveries.filter { it.id() == "m2" && it.attempt() == 1 }
                .forEach { it.fail(IllegalStateException("Order ${orders[deliveries.indexOf(it)].number} is not ready")) }
        }

        @DelayedListener(queues = ["deferred"], id = "deferred")
        open fun deferred(@Suppress("UNUSED_PARAMETER") order: Order, delivery: Delivery): Deferred<Int> {
            begun += delivery.id()
            return deferred
        }

    }

}
