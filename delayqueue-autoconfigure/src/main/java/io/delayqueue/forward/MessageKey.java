package io.delayqueue.forward;

import io.delayqueue.store.envelope.EnvelopeCodec;
import org.jspecify.annotations.Nullable;

import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.SimpleEvaluationContext;

import static java.nio.charset.StandardCharsets.UTF_8;

/** Determines the key of a record. */
@FunctionalInterface
interface MessageKey {

    /**
     * The group of the message, whose messages so have one partition, else the key that
     * it had before intake, else its id.
     */
    MessageKey OF_GROUP_OR_ID = (message) -> {
        byte[] key = (message.group() != null) ? message.group().getBytes(UTF_8) : message.keyBeforeIntake();
        return (key != null) ? key : message.id().getBytes(UTF_8);
    };

    /** Returns the key; {@code null} for none. */
    byte @Nullable [] of(ForwardedMessage message);

    /**
     * Returns the key that an expression determines. It reads {@code id}, {@code group},
     * {@code queue}, {@code headers} and {@code payload}.
     * @throws IllegalArgumentException if it is not an expression
     */
    static MessageKey expression(String text, EnvelopeCodec codec) {
        Expression expression;
        try {
            expression = new SpelExpressionParser().parseExpression(text);
        }
        catch (ParseException ex) {
            throw new IllegalArgumentException("'%s' is not an expression: %s".formatted(text, ex.getSimpleMessage()),
                    ex);
        }
        EvaluationContext context = SimpleEvaluationContext.forReadOnlyDataBinding().withInstanceMethods().build();
        return (message) -> {
            try {
                String key = expression.getValue(context, new ExpressionRoot(message, codec), String.class);
                return (key != null) ? key.getBytes(UTF_8) : null;
            }
            catch (RuntimeException ex) {
                // Also one of a method that the expression calls. Its message may quote
                // the payload.
                throw new UndeliverableMessageException(
                        "The expression '%s' does not determine a key for this message".formatted(text), null);
            }
        };
    }

}
