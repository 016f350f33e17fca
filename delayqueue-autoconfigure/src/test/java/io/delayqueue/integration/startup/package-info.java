/** Tests which servers and settings an application accepts when it starts. */
@NullMarked
package io.delayqueue.integration.startup;

import org.jspecify.annotations.NullMarked;
