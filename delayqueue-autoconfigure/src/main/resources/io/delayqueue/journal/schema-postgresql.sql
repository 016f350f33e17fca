-- Indexes are constraints: CREATE INDEX IF NOT EXISTS would wait for all writers, and block new ones, at each start.
CREATE TABLE IF NOT EXISTS delayqueue_journal (
  revision BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  namespace VARCHAR(64) COLLATE "C" NOT NULL,
  queue_name VARCHAR(128) COLLATE "C" NOT NULL,
  message_id VARCHAR(128) COLLATE "C" NOT NULL,
  operation CHAR(1) NOT NULL,
  on_duplicate VARCHAR(16),
  due_millis BIGINT,
  due_relative BOOLEAN NOT NULL,
  recorded_at BIGINT NOT NULL,
  priority SMALLINT,
  ttl_millis BIGINT,
  group_name VARCHAR(128) COLLATE "C",
  envelope BYTEA,
  accepted BOOLEAN NOT NULL,
  checks SMALLINT NOT NULL,
  claimed_by VARCHAR(36) NOT NULL,
  claimed_until BIGINT NOT NULL,
  failures INTEGER DEFAULT 0 NOT NULL,
  retry_millis BIGINT,
  CONSTRAINT delayqueue_journal_message UNIQUE (namespace, queue_name, message_id, revision),
  CONSTRAINT delayqueue_journal_claim UNIQUE (accepted, namespace, claimed_until, revision)
);
CREATE TABLE IF NOT EXISTS delayqueue_journal_identity (
  namespace VARCHAR(64) COLLATE "C" PRIMARY KEY,
  identity VARCHAR(36) NOT NULL,
  committed_at BIGINT NOT NULL,
  maintainer VARCHAR(36) NOT NULL
);
CREATE TABLE IF NOT EXISTS delayqueue_dead_letter (
  namespace VARCHAR(64) COLLATE "C" NOT NULL,
  queue_name VARCHAR(128) COLLATE "C" NOT NULL,
  dead_letter_id VARCHAR(160) COLLATE "C" NOT NULL,
  message_id VARCHAR(128) COLLATE "C" NOT NULL,
  partition_number SMALLINT NOT NULL,
  content BYTEA NOT NULL,
  PRIMARY KEY (namespace, queue_name, dead_letter_id)
);
CREATE TABLE IF NOT EXISTS delayqueue_handled (
  revision BIGINT NOT NULL,
  namespace VARCHAR(64) COLLATE "C" NOT NULL,
  queue_name VARCHAR(128) COLLATE "C" NOT NULL,
  message_id VARCHAR(128) COLLATE "C" NOT NULL,
  handled_at BIGINT NOT NULL,
  PRIMARY KEY (revision, namespace, queue_name, message_id),
  CONSTRAINT delayqueue_handled_age UNIQUE (namespace, handled_at, revision, queue_name, message_id)
);
CREATE TABLE IF NOT EXISTS delayqueue_ended (
  batch BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  namespace VARCHAR(64) COLLATE "C" NOT NULL,
  queue_name VARCHAR(128) COLLATE "C" NOT NULL,
  recorded_at BIGINT NOT NULL,
  revisions BYTEA NOT NULL,
  CONSTRAINT delayqueue_ended_age UNIQUE (namespace, recorded_at, batch)
);
CREATE TABLE IF NOT EXISTS delayqueue_history (
  entry BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  namespace VARCHAR(64) COLLATE "C" NOT NULL,
  queue_name VARCHAR(128) COLLATE "C" NOT NULL,
  message_id VARCHAR(128) COLLATE "C" NOT NULL,
  occurred_at BIGINT NOT NULL,
  node VARCHAR(128) NOT NULL,
  event VARCHAR(16) NOT NULL,
  attempt INTEGER,
  detail VARCHAR(500),
  CONSTRAINT delayqueue_history_message UNIQUE (namespace, queue_name, message_id, occurred_at, entry),
  CONSTRAINT delayqueue_history_age UNIQUE (namespace, occurred_at, entry)
);
