package io.delayqueue.engine;

import tools.jackson.databind.DatabindContext;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.jsontype.PolymorphicTypeValidator;

/**
 * Lets no JSON name a class, wherever an annotation would let it. Refused by the name
 * alone: to look whether the class fits would load it, and so run its initializer.
 * Logical names of subtypes are no class names and are as good as ever. Thread-safe.
 */
final class NoClassNames extends PolymorphicTypeValidator.Base {

    private static final long serialVersionUID = 1L;

    @Override
    public Validity validateSubClassName(DatabindContext context, JavaType baseType, String className) {
        return Validity.DENIED;
    }

}
