package io.delayqueue.listener.handler;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

import io.delayqueue.Delivery;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.observation.MessageObservations;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.MethodParameter;
import org.springframework.core.convert.ConversionException;
import org.springframework.core.convert.ConversionService;
import org.springframework.format.support.DefaultFormattingConversionService;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.converter.MessageConverter;
import org.springframework.messaging.handler.annotation.support.HeaderMethodArgumentResolver;
import org.springframework.messaging.handler.annotation.support.HeadersMethodArgumentResolver;
import org.springframework.messaging.handler.annotation.support.MessageMethodArgumentResolver;
import org.springframework.messaging.handler.annotation.support.PayloadMethodArgumentResolver;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolver;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolverComposite;
import org.springframework.validation.Validator;

/**
 * Creates handlers from methods of beans. Spring-messaging resolves the arguments, but
 * payloads are read beforehand, as the declared type: no message converter and no class
 * name in a message is involved.
 */
public final class HandlerMethodFactory {

    private static final Logger logger = LoggerFactory.getLogger(HandlerMethodFactory.class);

    private final EnvelopeCodec codec;

    private final @Nullable Validator validator;

    private final ConversionService conversionService = new DefaultFormattingConversionService();

    private final MessageObservations observations;

    private final @Nullable HandlerTransactions transactions;

    /** Creates a factory without transactions. */
    public HandlerMethodFactory(EnvelopeCodec codec, @Nullable Validator validator, MessageObservations observations) {
        this(codec, validator, observations, null);
    }

    /**
     * Creates a factory.
     * @param codec reads messages
     * @param validator checks payloads with {@code @Validated} or {@code @Valid};
     * {@code null} to check none
     * @param observations observes handlers
     * @param transactions runs transactional handlers; {@code null} if there can be none
     */
    public HandlerMethodFactory(EnvelopeCodec codec, @Nullable Validator validator, MessageObservations observations,
            @Nullable HandlerTransactions transactions) {
        this.transactions = transactions;
        this.observations = observations;
        this.codec = codec;
        this.validator = validator;
    }

    /**
     * Creates a handler.
     * @param method the method as the class declares it
     * @param invocable the method that can be called on the bean, which may be a proxy
     * @param beanFactory resolves default values of headers
     * @throws IllegalArgumentException if the method cannot be a handler
     */
    public HandlerMethodAdapter create(Object bean, Method method, Method invocable,
            @Nullable ConfigurableBeanFactory beanFactory) {
        Class<?> targetClass = AopProxyUtils.ultimateTargetClass(bean);
        HandlerSignature signature = HandlerSignature.of(method, targetClass);
        if (signature.validated() && this.validator == null) {
            logger.warn("Payloads of listener method '{}' are not validated, although it asks for that: there is no "
                    + "Validator bean, or there are several and none is primary. Add spring-boot-starter-validation, "
                    + "or make one of them @Primary", InvalidListenerException.describe(method));
        }
        HandlerMethodArgumentResolverComposite resolvers = new HandlerMethodArgumentResolverComposite();
        resolvers.addResolvers(List.of(new HeaderArgumentResolver(this.conversionService, beanFactory),
                new HeadersMethodArgumentResolver(), new MessageMethodArgumentResolver(new NoConversion()),
                new DeliveryArgumentResolver(), new PayloadArgumentResolver(this.validator)));
        return new HandlerMethodAdapter(this.codec, signature,
                new HandlerMethodAdapter.Invocation(bean, method, invocable, resolvers));
    }

    /**
     * Returns a handler that calls another one in a transaction.
     * @param method the method of the handler
     * @throws IllegalArgumentException if there are no transactions, or the method
     * returns before the handling ends
     */
    public MessageHandler transactional(MessageHandler handler, Method method) {
        if (this.transactions == null) {
            throw new IllegalArgumentException("transactional must be false, as no queue has "
                    + "delayqueue.journal.mode 'ledger': the journal records which messages were handled");
        }
        if (CompletionStage.class.isAssignableFrom(method.getReturnType())) {
            throw new IllegalArgumentException("transactional must be false for a method that returns a "
                    + method.getReturnType().getSimpleName() + ", as the transaction ends when the method returns");
        }
        return new TransactionalHandler(handler, this.transactions, InvalidListenerException.describe(method));
    }

    /**
     * Returns the handler, whose calls are observed if observations are enabled;
     * rejections before a call are not.
     */
    public MessageHandler observed(MessageHandler handler, String listenerId) {
        if (!this.observations.observesHandlers()) {
            return handler;
        }
        return new ObservedHandler(handler, this.observations, listenerId);
    }

    /** Observes each call of another handler. */
    private record ObservedHandler(MessageHandler handler, MessageObservations observations,
            String listenerId) implements MessageHandler {

        @Override
        public Call prepare(ClaimedMessage message, Delivery delivery) throws Exception {
            Call call = this.handler.prepare(message, delivery);
            return () -> this.observations.handle(delivery, this.listenerId, call.headers(), call::invoke);
        }

        @Override
        public Duration untilAvailable() {
            return this.handler.untilAvailable();
        }

        @Override
        public int claimLimit() {
            return this.handler.claimLimit();
        }

    }

    private static final class DeliveryArgumentResolver implements HandlerMethodArgumentResolver {

        @Override
        public boolean supportsParameter(MethodParameter parameter) {
            return parameter.getParameterType() == Delivery.class;
        }

        @Override
        public Object resolveArgument(MethodParameter parameter, Message<?> message) {
            return ((DeliveryMessage) message).delivery();
        }

    }

    /**
     * Quotes no header in exceptions, unlike Spring's. Ignores native headers, which
     * Spring reads from a header that a sender may use.
     */
    private static final class HeaderArgumentResolver extends HeaderMethodArgumentResolver {

        HeaderArgumentResolver(ConversionService conversionService, @Nullable ConfigurableBeanFactory beanFactory) {
            super(conversionService, beanFactory);
        }

        @Override
        protected @Nullable Object resolveArgumentInternal(MethodParameter parameter, Message<?> message, String name) {
            return message.getHeaders().get(name);
        }

        @Override
        public @Nullable Object resolveArgument(MethodParameter parameter, Message<?> message) throws Exception {
            try {
                return super.resolveArgument(parameter, message);
            }
            catch (ConversionException ex) {
                throw new PayloadConversionException(
                        "The header for parameter %d of the handler cannot be read as %s".formatted(
                                parameter.getParameterIndex() + 1, parameter.getGenericParameterType().getTypeName()),
                        null);
            }
        }

    }

    /** Accepts an empty text as a payload. */
    private static final class PayloadArgumentResolver extends PayloadMethodArgumentResolver {

        PayloadArgumentResolver(@Nullable Validator validator) {
            super(new NoConversion(), validator);
        }

        @Override
        protected boolean isEmptyPayload(@Nullable Object payload) {
            return payload == null;
        }

    }

    /** Converts nothing, as the payload already has its type. */
    private static final class NoConversion implements MessageConverter {

        @Override
        public @Nullable Object fromMessage(Message<?> message, Class<?> targetClass) {
            return null;
        }

        @Override
        public @Nullable Message<?> toMessage(Object payload, @Nullable MessageHeaders headers) {
            return null;
        }

    }

}
