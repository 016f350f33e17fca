package io.delayqueue.listener;

import io.delayqueue.listener.handler.HandlerMethodFactory;
import io.delayqueue.listener.handler.InvalidListenerException;
import io.delayqueue.listener.poll.TestBed;
import io.delayqueue.observation.MessageObservations;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.schedule.LocalSchedules;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.validation.Validator;

/** Provides an application context that finds listeners, and starts none. */
public final class ListenerContext extends AnnotationConfigApplicationContext {

    public ListenerContext() {
        this(null);
    }

    public ListenerContext(@Nullable Validator validator) {
        registerBean("registry", DelayedListenerRegistry.class,
                () -> new DelayedListenerRegistry((queue) -> TestBed.settings(),
                        new HandlerMethodFactory(new EnvelopeCodec(JsonMapper.builder().build()), validator,
                                MessageObservations.NONE),
                        MessageEventRecorderFactory.NONE));
        registerBean("delayedListenerPostProcessor", DelayedListenerAnnotationBeanPostProcessor.class,
                () -> new DelayedListenerAnnotationBeanPostProcessor(getBeanProvider(DelayedListenerRegistry.class),
                        (system) -> null, (system) -> LocalSchedules.none()));
    }

    /** Adds beans, each named after its class. */
    public ListenerContext with(Class<?>... beans) {
        for (Class<?> bean : beans) {
            registerBean(bean.getSimpleName(), bean);
        }
        return this;
    }

    public static InvalidListenerException refusal(Throwable thrown) {
        Throwable cause = thrown;
        while (cause != null && !(cause instanceof InvalidListenerException)) {
            cause = cause.getCause();
        }
        return (InvalidListenerException) cause;
    }

}
