package io.delayqueue.listener;

import io.delayqueue.engine.EnvelopeCodec;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.validation.Validator;
import tools.jackson.databind.json.JsonMapper;

/** An application context that finds listeners, and starts none. */
final class ListenerContext extends AnnotationConfigApplicationContext {

    ListenerContext() {
        this(null);
    }

    ListenerContext(@Nullable Validator validator) {
        registerBean("registry", DelayedListenerRegistry.class,
                () -> new DelayedListenerRegistry((queue) -> TestBed.settings(),
                        new HandlerMethodFactory(new EnvelopeCodec(JsonMapper.builder().build()), validator, null)));
        registerBean("delayedListenerPostProcessor", DelayedListenerAnnotationBeanPostProcessor.class,
                () -> new DelayedListenerAnnotationBeanPostProcessor(getBeanProvider(DelayedListenerRegistry.class)));
    }

    /** Adds beans, each named after its class. */
    ListenerContext with(Class<?>... beans) {
        for (Class<?> bean : beans) {
            registerBean(bean.getSimpleName(), bean);
        }
        return this;
    }

    static InvalidListenerException refusal(Throwable thrown) {
        Throwable cause = thrown;
        while (cause != null && !(cause instanceof InvalidListenerException)) {
            cause = cause.getCause();
        }
        return (InvalidListenerException) cause;
    }

}
