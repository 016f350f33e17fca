/** Namastack Outbox as its users use it. */
@NullMarked
package io.delayqueue.benchmarks.namastack;

import org.jspecify.annotations.NullMarked;
