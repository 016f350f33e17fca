package io.delayqueue.kotlin

import io.delayqueue.DelayedListener
import io.delayqueue.Delivery

/** Holds the example of docs/getting-started.md; DocumentationExamplesTests compares both. */
class GettingStartedExample(private val orders: Orders, private val payments: Payments) {

    @DelayedListener("order-timeout")
    suspend fun close(timeout: OrderTimeout, delivery: Delivery) {
        val order = orders.find(timeout.orderId) ?: return
        if (!order.paid) payments.cancel(order)
    }

    /** The payload. */
    data class OrderTimeout(val orderId: Long)

    /** An order. */
    data class Purchase(val paid: Boolean)

    /** Finds orders. */
    interface Orders {

        suspend fun find(id: Long): Purchase?

    }

    /** Cancels payments. */
    interface Payments {

        suspend fun cancel(order: Purchase)

    }

}
