package io.delayqueue.kotlin

import java.time.Duration
import org.awaitility.Awaitility
import org.awaitility.core.ConditionFactory

/** Waits for a minute, as build machines stall for longer than the default. */
internal fun await(): ConditionFactory = Awaitility.await().atMost(Duration.ofMinutes(1))
