package io.delayqueue.mutation;

import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Loads classes of this project, and the scripts they read, anew: from the first of its
 * directories that has them, and not from its parent.
 */
final class MutantLoader extends URLClassLoader {

    private static final String PROJECT = "io.delayqueue.";

    private final Predicate<String> anew;

    /**
     * Makes a loader.
     * @param anew names of classes of the project that are not its parent's business
     */
    MutantLoader(ClassLoader parent, Predicate<String> anew, Path... directories) {
        super(Stream.of(directories).map(MutantLoader::url).toArray(URL[]::new), parent);
        this.anew = anew;
    }

    private static URL url(Path directory) {
        try {
            return directory.toUri().toURL();
        }
        catch (MalformedURLException ex) {
            throw new IllegalArgumentException(ex);
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(PROJECT) || !this.anew.test(name)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return (loaded != null) ? loaded : findClass(name);
        }
    }

    @Override
    public URL getResource(String name) {
        URL own = name.startsWith(PROJECT.replace('.', '/')) ? findResource(name) : null;
        return (own != null) ? own : super.getResource(name);
    }

    /** Classes, by name. */
    List<Class<?>> load(String... names) {
        List<Class<?>> classes = new ArrayList<>();
        for (String name : names) {
            try {
                classes.add(loadClass(name));
            }
            catch (ClassNotFoundException ex) {
                throw new IllegalArgumentException(ex);
            }
        }
        return classes;
    }

}
