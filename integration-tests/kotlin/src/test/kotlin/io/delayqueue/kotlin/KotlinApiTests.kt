package io.delayqueue.kotlin

import io.delayqueue.DelayQueueOperations
import io.delayqueue.DelayedListenerErrorHandler
import io.delayqueue.DelayedMessage
import io.delayqueue.ErrorDecision
import io.delayqueue.OnDuplicate
import io.delayqueue.SendOutcome
import io.delayqueue.autoconfigure.DelayQueueAutoConfiguration
import io.delayqueue.autoconfigure.DelayQueueListenerAutoConfiguration
import io.delayqueue.listener.DelayedListenerConfigurer
import io.delayqueue.listener.DelayedListenerEndpoint
import java.util.concurrent.CopyOnWriteArrayList
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.minutes
import kotlin.time.toJavaDuration
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.springframework.boot.autoconfigure.AutoConfigurations
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration
import org.springframework.boot.test.context.runner.ApplicationContextRunner
import org.springframework.core.ParameterizedTypeReference

/** Uses the API from Kotlin, with its null-safety. */
class KotlinApiTests {

    private val handled = CopyOnWriteArrayList<String>()

    private val application = ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                JacksonAutoConfiguration::class.java,
                DelayQueueAutoConfiguration::class.java,
                DelayQueueListenerAutoConfiguration::class.java
            )
        )
        .withPropertyValues("delayqueue.store=memory")

    @Test
    fun `messages are sent, found, received and cancelled`() {
        application.run { context ->
            val queue = context.getBean(DelayQueueOperations::class.java)

            val result = queue.send(
                DelayedMessage.builder("reminders", Reminder("call", null))
                    .id("reminder-1")
                    .delay(30.minutes.toJavaDuration())
                    .timeToLive(2.hours.toJavaDuration())
                    .header("tenant", "acme")
                    .onDuplicate(OnDuplicate.REPLACE)
                    .build()
            )
            assertThat(result.outcome()).isEqualTo(SendOutcome.SCHEDULED)
            assertThat(queue.find("reminders", "reminder-1").map { it.headers()["tenant"] }).contains("acme")

            queue.reschedule("reminders", "reminder-1", java.time.Duration.ZERO)
            val received = queue.receive("reminders", 1.minutes.toJavaDuration()).get()
            val reminder: Reminder = received.payload(Reminder::class.java)
            assertThat(reminder).isEqualTo(Reminder("call", null))
            assertThat(received.acknowledge()).isTrue()
            assertThat(queue.find("reminders", "reminder-1")).isEmpty()
        }
    }

    @Test
    fun `listeners and error handlers are functions`() {
        application
            .withBean(DelayedListenerErrorHandler::class.java, {
                DelayedListenerErrorHandler { delivery, error ->
                    when (error) {
                        is IllegalArgumentException -> ErrorDecision.deadLetter("${delivery.id()}: ${error.message}")
                        else -> ErrorDecision.standard()
                    }
                }
            })
            .withBean(DelayedListenerConfigurer::class.java, {
                DelayedListenerConfigurer { registry ->
                    registry.register(
                        DelayedListenerEndpoint.builder("single", "single")
                            .handler(Reminder::class.java) { reminder, delivery ->
                                require(reminder.text.isNotBlank()) { "a reminder needs a text" }
                                handled += "${reminder.text} ${delivery.attempt()}"
                            }
                            .concurrency(2)
                            .build()
                    )
                    registry.register(
                        DelayedListenerEndpoint.builder("lists", "lists")
                            .batchHandler(object : ParameterizedTypeReference<List<Reminder>>() {}) { batch, _ ->
                                batch.flatten().forEach { handled += it.text }
                            }
                            .build()
                    )
                }
            })
            .run { context ->
                val queue = context.getBean(DelayQueueOperations::class.java)
                queue.send("single", Reminder("call", "soon"))
                queue.send("lists", listOf(Reminder("one", null), Reminder("two", null)))
                queue.send("single", "blank", Reminder(" ", null), java.time.Duration.ZERO)

                await().untilAsserted { assertThat(handled).containsExactlyInAnyOrder("call 1", "one", "two") }
                await().until { queue.deadLetters("single").list(null, 1).deadLetters().size == 1 }
                assertThat(queue.deadLetters("single").list(null, 1).deadLetters().single().cause())
                    .isEqualTo("blank: a reminder needs a text")
            }
    }

    data class Reminder(val text: String, val note: String?)

}
