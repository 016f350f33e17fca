package io.delayqueue.listener.handler;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

import io.delayqueue.Delivery;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.ScheduledOccurrence;
import io.delayqueue.QueueName;
import io.delayqueue.observation.MessageObservations;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.schedule.OccurrenceIds;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

    private final @Nullable ConfigurableBeanFactory beanFactory;

    private final HandlerDecorator decorator;

    /** Creates a factory without transactions, and without a bean factory. */
    public HandlerMethodFactory(EnvelopeCodec codec, @Nullable Validator validator, MessageObservations observations) {
        this(codec, validator, observations, null, null);
    }

    /**
     * Creates a factory.
     * @param codec reads messages
     * @param validator checks payloads with {@code @Validated} or {@code @Valid};
     * {@code null} to check none
     * @param observations observes handlers
     * @param transactions runs transactional handlers; {@code null} if there can be none
     * @param beanFactory resolves default values of headers; {@code null} to leave them
     */
    public HandlerMethodFactory(EnvelopeCodec codec, @Nullable Validator validator, MessageObservations observations,
            @Nullable HandlerTransactions transactions, @Nullable ConfigurableBeanFactory beanFactory) {
        this.decorator = HandlerDecorator.NONE;
        this.beanFactory = beanFactory;
        this.transactions = transactions;
        this.observations = observations;
        this.codec = codec;
        this.validator = validator;
    }

    private HandlerMethodFactory(HandlerMethodFactory other, @Nullable HandlerTransactions transactions,
            HandlerDecorator decorator) {
        this.decorator = decorator;
        this.beanFactory = other.beanFactory;
        this.transactions = transactions;
        this.observations = other.observations;
        this.codec = other.codec;
        this.validator = other.validator;
    }

    /** Returns a factory that also decorates handlers. */
    public HandlerMethodFactory decoratedBy(HandlerDecorator decorator) {
        return new HandlerMethodFactory(this, this.transactions, decorator);
    }

    /** Returns a factory for another system, whose queues have no journal. */
    public HandlerMethodFactory withoutTransactions() {
        return new HandlerMethodFactory(this, null, this.decorator);
    }

    /**
     * Creates a handler that calls a method.
     * @param bean may be a proxy
     * @param method the method as the class declares it
     * @param beanFactory resolves default values of headers; {@code null} for that of
     * this factory
     * @throws IllegalArgumentException if the method cannot be a handler
     */
    public HandlerMethodAdapter create(Object bean, Method method, @Nullable ConfigurableBeanFactory beanFactory) {
        BeanMethod called = BeanMethod.of(bean, method);
        HandlerSignature signature = HandlerSignature.of(method, called.targetClass());
        warnOfMissingValidator(method, signature.validated());
        HandlerMethodArgumentResolverComposite resolvers = new HandlerMethodArgumentResolverComposite();
        ConfigurableBeanFactory resolving = (beanFactory != null) ? beanFactory : this.beanFactory;
        resolvers.addResolvers(List.of(new HeaderArgumentResolver(this.conversionService, resolving),
                new HeadersMethodArgumentResolver(), new MessageMethodArgumentResolver(new NoConversion()),
                new DeliveryArgumentResolver(), new OccurrenceArgumentResolver(), new ContinuationArgumentResolver(),
                new PayloadArgumentResolver(this.validator)));
        return new HandlerMethodAdapter(this.codec, signature.payloadType(), new MethodInvocation(called, resolvers));
    }

    /**
     * Creates a handler that calls a method with batches.
     * @param bean may be a proxy
     * @param method the method as the class declares it
     * @param size the maximum number of messages of a batch
     * @throws IllegalArgumentException if the method cannot handle batches, or the size
     * is not valid
     */
    public HandlerMethodAdapter createBatch(Object bean, Method method, int size) {
        BeanMethod called = BeanMethod.of(bean, method);
        BatchSignature signature = BatchSignature.of(method, called.targetClass());
        warnOfMissingValidator(method, signature.validated() != null);
        return batch(signature.payloadType(),
                new BatchMethodInvocation(called, signature, new PayloadArgumentResolver(this.validator)::validate),
                size);
    }

    private void warnOfMissingValidator(Method method, boolean validated) {
        if (validated && this.validator == null) {
            logger.warn("Payloads of listener method '{}' are not validated, although it asks for that: there is no "
                    + "Validator bean, or there are several and none is primary. Add spring-boot-starter-validation, "
                    + "or make one of them @Primary", InvalidListenerException.describe(method));
        }
    }

    /** Creates a handler that calls a function. */
    public <T> HandlerMethodAdapter create(Type payloadType, PayloadHandler<T> handler) {
        return new HandlerMethodAdapter(this.codec, HandlerSignature.readable(payloadType),
                FunctionInvocation.of(handler));
    }

    /**
     * Creates a handler that calls a function with batches.
     * @param size the maximum number of messages of a batch
     * @throws IllegalArgumentException if the size is not valid
     */
    public <T> HandlerMethodAdapter createBatch(Type payloadType, BatchPayloadHandler<T> handler, int size) {
        return batch(HandlerSignature.readable(payloadType), FunctionInvocation.ofBatch(handler), size);
    }

    private HandlerMethodAdapter batch(@Nullable Type payloadType, HandlerInvocation invocation, int size) {
        if (size < 1 || size > MessageStore.BATCH_LIMIT) {
            throw new IllegalArgumentException(
                    "batchSize must be 1 to %d, but was %d".formatted(MessageStore.BATCH_LIMIT, size));
        }
        return new HandlerMethodAdapter(this.codec, payloadType, invocation, size);
    }

    /**
     * Returns a handler that calls another one in a transaction.
     * @param queues the queues of the listener
     * @throws IllegalArgumentException if there can be no transactions for these queues
     * or this handler, or the handler may return before the handling ends
     */
    public MessageHandler transactional(HandlerMethodAdapter handler, List<QueueName> queues) {
        if (this.transactions == null) {
            throw new IllegalArgumentException("transactional must be false, as no queue of this system has "
                    + "delayqueue.journal.mode 'ledger': the journal records which messages were handled");
        }
        if (handler.isBatch()) {
            throw new IllegalArgumentException(
                    "transactional must be false for batches, as a transaction records that one message was handled");
        }
        if (!handler.isImmediate()) {
            throw new IllegalArgumentException("transactional must be false for a suspend function, or a method that "
                    + "returns a future or a publisher, as the transaction ends when the method returns");
        }
        BeanMethod called = handler.method();
        if (called != null && called.isAsync()) {
            throw new IllegalArgumentException(
                    "transactional must be false for an @Async method, as the transaction ends when the call returns");
        }
        if (called != null) {
            this.transactions.require(called.method(), called.targetClass());
        }
        this.transactions.require(queues);
        return new TransactionalHandler(handler, this.transactions, handler.toString());
    }

    /**
     * Returns the handler, whose calls are observed if observations are enabled;
     * rejections before a call are not. It is decorated if this factory decorates.
     */
    public MessageHandler observed(MessageHandler handler, String listenerId) {
        MessageHandler observed = this.observations.observesHandlers()
                ? new ObservedHandler(handler, this.observations, listenerId) : handler;
        return this.decorator.decorate(observed, listenerId);
    }

    /** Observes each call of another handler. */
    private record ObservedHandler(MessageHandler handler, MessageObservations observations,
            String listenerId) implements MessageHandler {

        @Override
        public Call prepare(ClaimedMessage message, Delivery delivery) throws Exception {
            Call call = this.handler.prepare(message, delivery);
            return isBatch() ? new ObservedItem(call, delivery)
                    : new ObservedCall(call, List.of(delivery), List.of(call.headers()), this);
        }

        @Override
        public boolean isBatch() {
            return this.handler.isBatch();
        }

        @Override
        public Call combine(List<Call> calls) throws Exception {
            List<ObservedItem> items = calls.stream().map(ObservedItem.class::cast).toList();
            Call combined = this.handler.combine(items.stream().map(ObservedItem::call).toList());
            return new ObservedCall(combined, items.stream().map(ObservedItem::delivery).toList(),
                    items.stream().map((item) -> item.call().headers()).toList(), this);
        }

        @Override
        public Duration untilAvailable() {
            return this.handler.untilAvailable();
        }

        @Override
        public int claimLimit() {
            return this.handler.claimLimit();
        }

        @Override
        public @Nullable HandlerOutage outage() {
            return this.handler.outage();
        }

    }

    /**
     * Observes a call until the handling ends.
     *
     * @param sent the headers of the messages, in the order of the deliveries
     */
    private record ObservedCall(MessageHandler.Call call, List<Delivery> deliveries, List<Map<String, String>> sent,
            ObservedHandler handler) implements MessageHandler.Call {

        @Override
        public @Nullable CompletionStage<?> invoke(Executor continuations) throws Throwable {
            return this.handler.observations()
                .handle(this.deliveries, this.handler.listenerId(), this.sent, () -> this.call.invoke(continuations));
        }

    }

    /** Holds a message of a batch, which is observed with the batch. */
    private record ObservedItem(MessageHandler.Call call, Delivery delivery) implements MessageHandler.Call {

        @Override
        public @Nullable CompletionStage<?> invoke(Executor continuations) throws Throwable {
            return this.call.invoke(continuations);
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

    private static final class OccurrenceArgumentResolver implements HandlerMethodArgumentResolver {

        @Override
        public boolean supportsParameter(MethodParameter parameter) {
            return parameter.getParameterType() == ScheduledOccurrence.class;
        }

        @Override
        public @Nullable Object resolveArgument(MethodParameter parameter, Message<?> message) {
            DeliveryMessage occurrence = (DeliveryMessage) message;
            return OccurrenceIds.of(occurrence.delivery().id(), occurrence.sentHeaders());
        }

    }

    /** Leaves the last argument of a suspend function to the call. */
    private static final class ContinuationArgumentResolver implements HandlerMethodArgumentResolver {

        @Override
        public boolean supportsParameter(MethodParameter parameter) {
            return HandlerSignature.isContinuation(parameter);
        }

        @Override
        public @Nullable Object resolveArgument(MethodParameter parameter, Message<?> message) {
            return null;
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

        /** Validates one payload of a batch by the annotations of their list. */
        void validate(DeliveryMessage message, MethodParameter parameter) {
            validate(message, parameter, message.getPayload());
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
