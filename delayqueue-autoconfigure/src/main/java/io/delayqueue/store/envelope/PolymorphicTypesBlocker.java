package io.delayqueue.store.envelope;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.delayqueue.PayloadConversionException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.DatabindContext;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.KeyDeserializer;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.cfg.MapperConfig;
import tools.jackson.databind.introspect.Annotated;
import tools.jackson.databind.introspect.NopAnnotationIntrospector;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.PolymorphicTypeValidator;
import tools.jackson.databind.jsontype.impl.TypeIdResolverBase;
import tools.jackson.databind.module.SimpleModule;

/**
 * Rejects class names in JSON, wherever an annotation or the type of a field would allow
 * them. Rejects them without loading the class, which could run its initializer. Also
 * prevents writing JSON that could not be read. Logical names of subtypes are not
 * affected. Thread-safe.
 */
final class PolymorphicTypesBlocker extends PolymorphicTypeValidator.Base {

    private static final long serialVersionUID = 1L;

    private static final String RULE = "no stored message may name a class, as whoever can write to the store "
            + "would choose it";

    /** Returns a copy of the mapper that neither reads nor writes class names. */
    static JsonMapper in(JsonMapper mapper) {
        return mapper.rebuild()
            .deactivateDefaultTyping()
            .polymorphicTypeValidator(new PolymorphicTypesBlocker())
            .addModule(new NoClasses())
            .build();
    }

    @Override
    public Validity validateSubClassName(DatabindContext context, JavaType baseType, String className) {
        return Validity.DENIED;
    }

    private static PayloadConversionException refused(String what) {
        return new PayloadConversionException(what + ": " + RULE, null);
    }

    /**
     * Rejects types whose values are classes, and annotations that require class names.
     */
    private static final class NoClasses extends SimpleModule {

        private static final long serialVersionUID = 1L;

        NoClasses() {
            super("delayqueue-no-classes");
            refuse(Class.class);
            refuse(JavaType.class);
        }

        private <T> void refuse(Class<T> type) {
            addSerializer(type, new NotWritten<>());
            addKeySerializer(type, new NotWritten<>());
            addDeserializer(type, new NotRead<>());
            addKeyDeserializer(type, new NotReadAsKey());
        }

        @Override
        public void setupModule(SetupContext context) {
            super.setupModule(context);
            context.insertAnnotationIntrospector(new NamesOnly());
        }

    }

    private static final class NotWritten<T> extends ValueSerializer<T> {

        @Override
        public void serialize(T value, JsonGenerator json, SerializationContext context) {
            throw refused("it has a value of type " + value.getClass().getName());
        }

    }

    private static final class NotRead<T> extends ValueDeserializer<T> {

        @Override
        public T deserialize(JsonParser json, DeserializationContext context) {
            throw refused("it has a value that is a class");
        }

    }

    private static final class NotReadAsKey extends KeyDeserializer {

        @Override
        public Object deserializeKey(String key, DeserializationContext context) {
            throw refused("it has a key that is a class");
        }

    }

    /** Disables annotations that require class names; leaves others unchanged. */
    private static final class NamesOnly extends NopAnnotationIntrospector {

        private static final long serialVersionUID = 1L;

        @Override
        public @Nullable Object findTypeIdResolver(MapperConfig<?> config, Annotated annotated) {
            JsonTypeInfo info = annotated.getAnnotation(JsonTypeInfo.class);
            boolean named = info != null
                    && (info.use() == JsonTypeInfo.Id.CLASS || info.use() == JsonTypeInfo.Id.MINIMAL_CLASS);
            return named ? NoNames.class : null;
        }

    }

    /** Replaces the resolver of class names. Instantiated by Jackson. */
    static final class NoNames extends TypeIdResolverBase {

        @Override
        public String idFromValue(DatabindContext context, Object value) {
            return idFromValueAndType(context, value, value.getClass());
        }

        @Override
        public String idFromValueAndType(DatabindContext context, @Nullable Object value, Class<?> type) {
            throw refused("@JsonTypeInfo lets %s be written with the name of its class".formatted(type.getName()));
        }

        @Override
        public JavaType typeFromId(DatabindContext context, String id) {
            throw refused("it names a class, as @JsonTypeInfo lets it");
        }

        @Override
        public JsonTypeInfo.Id getMechanism() {
            return JsonTypeInfo.Id.CUSTOM;
        }

    }

}
