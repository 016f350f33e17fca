/**
 * Code that all contenders share. {@link io.delayqueue.benchmarks.contender.Contender} is
 * the small interface that each implements;
 * {@link io.delayqueue.benchmarks.contender.Agent} runs one in a JVM of its own, makes
 * the load, checks the delivery, and answers the runner a line for a line.
 */
@NullMarked
package io.delayqueue.benchmarks.contender;

import org.jspecify.annotations.NullMarked;
