package io.delayqueue.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import javax.sql.DataSource;

import io.delayqueue.journal.TableNames;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.jdbc.init.PropertiesBasedDataSourceScriptDatabaseInitializer;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.jdbc.datasource.init.ScriptStatementFailedException;

/**
 * Creates the tables of the journal, with the names that the application gives them.
 * Several nodes may do so at the same time.
 */
final class JournalSchemaInitializer
        extends PropertiesBasedDataSourceScriptDatabaseInitializer<DelayQueueJournalProperties> {

    private static final Logger logger = LoggerFactory.getLogger(JournalSchemaInitializer.class);

    private final TableNames tables;

    JournalSchemaInitializer(DataSource dataSource, DelayQueueJournalProperties properties) {
        super(dataSource, properties);
        this.tables = properties.tables();
    }

    @Override
    protected void runScripts(Scripts scripts) {
        Charset encoding = (scripts.getEncoding() != null) ? scripts.getEncoding() : StandardCharsets.UTF_8;
        List<Resource> named = new ArrayList<>();
        for (Resource script : scripts) {
            named.add(named(script, encoding));
        }
        run(new Scripts(named).continueOnError(scripts.isContinueOnError())
            .separator(scripts.getSeparator())
            .encoding(encoding));
    }

    /**
     * Runs scripts again after a failure, once for each statement: PostgreSQL and H2
     * reject {@code IF NOT EXISTS} if another node creates the same table or index at
     * that time, in several ways. Throws the first failure, as a script of the
     * application may fail otherwise when it is repeated.
     */
    private void run(Scripts scripts) {
        Map<String, ScriptStatementFailedException> failures = new LinkedHashMap<>();
        while (true) {
            try {
                super.runScripts(scripts);
                return;
            }
            catch (ScriptStatementFailedException ex) {
                if (failures.putIfAbsent(String.valueOf(ex.getMessage()), ex) != null) {
                    ScriptStatementFailedException first = failures.values().iterator().next();
                    first.addSuppressed(ex);
                    throw first;
                }
                logger.debug("A statement of the journal's script failed; the script is run again", ex);
            }
        }
    }

    private Resource named(Resource script, Charset encoding) {
        try {
            String text = this.tables.in(script.getContentAsString(encoding));
            return new ByteArrayResource(text.getBytes(encoding), script.getDescription());
        }
        catch (IOException ex) {
            throw new UncheckedIOException("Cannot read " + script.getDescription(), ex);
        }
    }

}
