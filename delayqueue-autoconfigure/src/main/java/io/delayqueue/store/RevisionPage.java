package io.delayqueue.store;

import java.util.Map;

/**
 * Holds a page of the messages of a journal that a partition holds. A message may be on
 * several pages.
 *
 * @param revisions the revisions by ids
 * @param successors the revisions of those messages that follow others of the page, by
 * the same ids
 * @param next the cursor of the next page; {@link #END} after the last one
 */
public record RevisionPage(Map<String, Long> revisions, Map<String, Long> successors, String next) {

    /** The cursor of the first page. */
    public static final String START = "0";

    /** The cursor after the last page. */
    public static final String END = "0";

}
