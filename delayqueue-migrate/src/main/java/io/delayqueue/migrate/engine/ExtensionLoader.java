package io.delayqueue.migrate.engine;

import java.lang.reflect.InvocationTargetException;

/** Creates the decoders and sources of the user by the names of their classes. */
public final class ExtensionLoader {

    private ExtensionLoader() {
    }

    /**
     * Creates an object of a class on the class path.
     * @param option the option that names it
     * @param name the name of the class
     * @param type the required type
     * @param builtIn the names that are built in, for the exception message
     * @throws IllegalArgumentException if that is not possible
     */
    public static <T> T create(String option, String name, Class<T> type, String builtIn) {
        try {
            Class<?> found = Class.forName(name, true, Thread.currentThread().getContextClassLoader());
            if (!type.isAssignableFrom(found)) {
                throw new IllegalArgumentException(
                        "%s=%s is not valid: the class does not implement %s".formatted(option, name, type.getName()));
            }
            return type.cast(found.getDeclaredConstructor().newInstance());
        }
        catch (ClassNotFoundException ex) {
            throw new IllegalArgumentException(("%s=%s is not valid: use %s, or the name of a class in a jar that "
                    + "java -Dloader.path=that.jar -jar ... names")
                .formatted(option, name, builtIn), ex);
        }
        catch (InvocationTargetException ex) {
            throw new IllegalArgumentException(
                    "%s=%s is not valid: its constructor throws %s".formatted(option, name, ex.getCause()), ex);
        }
        catch (ReflectiveOperationException ex) {
            throw new IllegalArgumentException(
                    "%s=%s is not valid: the class needs a public constructor without arguments".formatted(option,
                            name),
                    ex);
        }
    }

}
