package io.delayqueue.forward;

import io.delayqueue.store.envelope.EnvelopeCodec;
import org.jspecify.annotations.Nullable;

import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.SimpleEvaluationContext;

/** Determines the key of a record. */
@FunctionalInterface
interface MessageKey {

    /**
     * The key that the message had before it was scheduled, else its group, else its id.
     */
    MessageKey OF_GROUP_OR_ID = (message) -> {
        String key = message.headers().get(BrokerHeaders.KEY);
        String group = message.group();
        return (key != null) ? key : (group != null) ? group : message.id();
    };

    /** Returns the key; {@code null} for none. */
    @Nullable String of(ForwardedMessage message);

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
                return expression.getValue(context, new ExpressionRoot(message, codec), String.class);
            }
            catch (EvaluationException ex) {
                // Its message may quote the payload.
                throw new UndeliverableMessageException(
                        "The expression '%s' does not determine a key for this message".formatted(text), null);
            }
        };
    }

}
