package io.delayqueue.template;

import io.delayqueue.engine.MessageInspector;
import io.delayqueue.engine.MessageStore;
import io.delayqueue.engine.WakeUps;

/**
 * The three ports of one store.
 *
 * @param messages changes messages
 * @param inspector looks at them
 * @param wakeUps tells when to look
 */
public record StorePorts(MessageStore messages, MessageInspector inspector, WakeUps wakeUps) {
}
