package io.delayqueue.migrate.cli;

import picocli.CommandLine.IVersionProvider;

/** Reads the version from the manifest of the jar. */
final class VersionProvider implements IVersionProvider {

    @Override
    public String[] getVersion() {
        String version = VersionProvider.class.getPackage().getImplementationVersion();
        return new String[] { "delayqueue-migrate " + ((version != null) ? version : "(not packaged)") };
    }

}
